"""The BIF reader: it accepts every dialect and has a message for each mistake."""

import gzip
import re
import time

import numpy as np
import pytest

from coevo.errors import CoevoWarning, FileError, FormatError
from coevo.io import parse_bif, read_bif
from coevo.io.bif_reader import parse_bif_document
from helpers.peer_oracles import assert_same_network, pyagrum

RAIN = """\
network weather {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable sky {
  type discrete [ 3 ] { clear, grey, dark };
}
variable wet {
  type discrete [ 2 ] { no, yes };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( sky | rain ) {
  (no) 0.7, 0.2, 0.1;
  (yes) 0.0, 0.4, 0.6;
}
probability ( wet | rain, sky ) {
  (no, clear) 0.99, 0.01;
  (no, grey) 0.98, 0.02;
  (no, dark) 0.97, 0.03;
  (yes, clear) 0.3, 0.7;
  (yes, grey) 0.2, 0.8;
  (yes, dark) 0.1, 0.9;
}
"""
WET = [[0.99, 0.01], [0.98, 0.02], [0.97, 0.03], [0.3, 0.7], [0.2, 0.8], [0.1, 0.9]]


def coin(body="table 0.5, 0.5;", states="[ 2 ] { head, tail }"):
    return f"variable coin {{ type discrete {states}; }}\nprobability ( coin ) {{ {body} }}\n"


def with_parent(body):
    return (
        "variable a { type discrete [ 2 ] { x, y }; }\n"
        "variable b { type discrete [ 3 ] { p, q, r }; }\n"
        "probability ( a ) { table 0.1, 0.9; }\n"
        f"probability ( b | a ) {{ {body} }}\n"
    )


class TestDialects:
    def test_the_layout_of_bnlearn(self):
        network = parse_bif(RAIN)
        assert network.name == "weather"
        assert [variable.name for variable in network.variables] == ["rain", "sky", "wet"]
        assert network.variable("sky").states == ("clear", "grey", "dark")
        assert network.parents("wet") == ("rain", "sky")
        assert network.table("rain").tolist() == [[0.8, 0.2]]
        assert network.table("sky").tolist() == [[0.7, 0.2, 0.1], [0.0, 0.4, 0.6]]
        assert network.table("wet").tolist() == WET

    def test_javabayes(self):
        """No bar, no commas, quotes, properties, comments, the child slowest in a table."""
        network = parse_bif(
            """
            // Bayesian network
            network "Rain-Problem" { // 3 variables
                property "version 1; of {many}" ;
                property author  nobody http://example.org/x;
            }
            variable  "rain" { // 2 values
                type discrete[2] {  "no"  "yes" };
                property "position = (73, 165)" ;
            }
            variable  "sky" { type discrete[3] {  "clear"  "grey" "dark" }; }
            variable  "wet" { property a; type discrete[2] {  "no"  "yes" }; }
            probability (  "rain" ) { /* 1 variable, 2 values */
                table 0.8 // p(no)
                      0.2;
            }
            probability (  "sky" "rain" ) {
                table
                    0.7 0.0 // p(clear | rain)
                    0.2 0.4
                    0.1 0.6;
            }
            probability (  "wet" "rain" "sky" ) {
                property "checked";
                table 0.99 0.98 0.97 0.3 0.2 0.1 0.01 0.02 0.03 0.7 0.8 0.9;
            }
            """
        )
        assert network == parse_bif(RAIN)
        assert network.name == "Rain-Problem"

    def test_pyagrum(self, tmp_path):
        """What pyAgrum writes: no commas between numbers, no blanks around the symbols."""
        theirs = pyagrum.fastBN("a{x|y}->b{p|q|r}<-c[3]")
        theirs.saveBIF(str(tmp_path / "theirs.bif"))
        network = read_bif(tmp_path / "theirs.bif")
        assert set(network.dag.arcs) == {("a", "b"), ("c", "b")}
        assert_same_network(tmp_path / "theirs.bif", network)

    def test_pgmpy(self):
        """Rows with blanks inside the brackets, four spaces, property lines."""
        text = RAIN.replace("(no, clear)", "( no, clear )").replace("  (", "    (")
        text = text.replace("};", "};\n    property weight = None ;")
        assert parse_bif(text) == parse_bif(RAIN)

    def test_rows_without_commas_and_with_too_many(self):
        text = RAIN.replace("(no, grey) 0.98, 0.02", "(no grey) 0.98 0.02")
        text = text.replace("(no, dark) 0.97, 0.03", "(no, dark,) ,0.97,, 0.03,")
        text = text.replace("{ no, yes }", "{ no yes, }")
        assert parse_bif(text) == parse_bif(RAIN)

    def test_quoted_names_are_the_same_names(self):
        text = re.sub(r"\b(rain|no|yes)\b", r'"\1"', RAIN)
        assert parse_bif(text) == parse_bif(RAIN)

    def test_blocks_in_any_order(self):
        blocks = re.findall(r"(?ms)^\w.*?^}\n", RAIN)
        assert len(blocks) == 7
        backwards = parse_bif("".join(blocks[::-1]))
        assert [variable.name for variable in backwards.variables] == ["wet", "sky", "rain"]
        assert backwards.table("wet").tolist() == WET
        assert backwards.name == "weather"

    def test_rows_in_any_order(self):
        rows = re.findall(r"  \(\w+, \w+\).*\n", RAIN)
        text = RAIN.replace("".join(rows), "".join(rows[::-1]))
        assert text != RAIN
        assert parse_bif(text) == parse_bif(RAIN)

    def test_unquoted_states_with_blanks(self):
        """R does not quote the levels of a factor."""
        text = RAIN.replace("grey", "a little  grey").replace("dark", "very dark")
        network = parse_bif(text)
        assert network.variable("sky").states == ("clear", "a little grey", "very dark")
        assert network.table("wet").tolist() == WET

    def test_comments_of_all_kinds(self):
        text = "# a { line\n/* two\nlines { */" + RAIN.replace(";\n", "; // a { comment\n")
        text = text.replace("table", "/* * / */ table").replace("  (no, dark)", " #}\n  (no, dark)")
        assert parse_bif(text) == parse_bif(RAIN)

    def test_a_string_holds_what_looks_like_a_comment(self):
        network = parse_bif(coin(states='[ 2 ] { "//head", "/* tail" }'))
        assert network.variable("coin").states == ("//head", "/* tail")

    def test_stray_semicolons_and_loose_properties(self):
        text = RAIN.replace("}\n", '};\nproperty a 5" pipe;\n').replace("{\n", "{;\n")
        assert parse_bif(text) == parse_bif(RAIN)

    @pytest.mark.parametrize("newline", ["\r\n", "\r"])
    def test_newlines_of_other_systems(self, newline):
        assert parse_bif(RAIN.replace("\n", newline)) == parse_bif(RAIN)

    def test_words_of_the_format_as_names(self):
        text = RAIN.replace("rain", "table").replace("sky", "property")
        text = text.replace("yes", "default").replace("clear", "type").replace("grey", "variable")
        network = parse_bif(text)
        assert network.dag.arcs == (("property", "wet"), ("table", "property"), ("table", "wet"))
        assert network.table("wet").tolist() == WET

    def test_an_empty_text_is_an_empty_network(self):
        assert parse_bif("").variables == ()

    @pytest.mark.parametrize(
        ("written", "name"),
        [
            ("network alarm { }", "alarm"),
            ("network { }", ""),
            ("", ""),
            ("network unknown { }", ""),
            ('network "unknown" { }', "unknown"),
            ('network "two words" { }', "two words"),
        ],
    )
    def test_name_of_the_network(self, written, name):
        assert parse_bif(written + coin()).name == name

    def test_escapes(self):
        network = parse_bif(coin(states=r'[ 4 ] { "a\"b", "a\\b", "a\nb", "\u00e9\d" }', body=FOUR))
        assert network.variable("coin").states == ('a"b', "a\\b", "a\nb", "é\\d")

    @pytest.mark.parametrize("number", [".25", "0.25", "25e-2", "2.5E-1", "+0.25", "00.250"])
    def test_numbers_in_any_notation(self, number):
        network = parse_bif(coin(f"table {number}, .75;"))
        assert network.table("coin").tolist() == [[0.25, 0.75]]


FOUR = "table 0.25, 0.25, 0.25, 0.25;"


class TestTables:
    def test_default_applies_to_missing_rows(self):
        network = parse_bif(with_parent("default 0.2, 0.3, 0.5; (y) 0.1, 0.1, 0.8;"))
        assert network.table("b").tolist() == [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]

    def test_default_alone(self):
        assert parse_bif(coin("default 0.3, 0.7;")).table("coin").tolist() == [[0.3, 0.7]]

    def test_empty_brackets_for_a_root(self):
        assert parse_bif(coin("() 0.3, 0.7;")).table("coin").tolist() == [[0.3, 0.7]]

    @pytest.mark.parametrize(
        "body",
        [
            "table 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94;",
            "default 0.5, 0.5; (x, v) 0.1, 0.9; (y, u) 0.2, 0.8;",
        ],
    )
    def test_pyagrum_reads_table_and_default_as_we_do(self, tmp_path, body):
        text = (
            "network unknown {\n}\n"
            "variable a { type discrete [ 2 ] { x, y }; }\n"
            "variable c { type discrete [ 3 ] { u, v, w }; }\n"
            "variable b { type discrete [ 2 ] { p, q }; }\n"
            "probability ( a ) { table 0.1, 0.9; }\n"
            "probability ( c ) { table 0.1, 0.8, 0.1; }\n"
            f"probability ( b | a, c ) {{ {body} }}\n"
        )
        (tmp_path / "t.bif").write_text(text)
        assert_same_network(tmp_path / "t.bif", parse_bif(text))

    def test_a_document_keeps_the_published_digits(self):
        document = parse_bif_document(coin("table 0.3333333, 0.6666666;"))
        assert document.tables["coin"].tolist() == [[0.3333333, 0.6666666]]
        table = document.to_network().table("coin")
        np.testing.assert_allclose(table, [[1 / 3, 2 / 3]], rtol=1e-15)

    def test_rounded_rows_are_normalised_with_a_warning(self):
        text = with_parent("(x) 0.333, 0.333, 0.333; (y) 0.2, 0.3, 0.5004;")
        with pytest.warns(CoevoWarning) as caught:
            network = parse_bif(text, "b.bif")
        assert [str(warning.message) for warning in caught] == [
            "b.bif, line 4, column 25: the row (x) of 'b' sums to 0.999; "
            "this row and 1 more were normalised."
        ]
        np.testing.assert_allclose(network.table("b")[0], [1 / 3] * 3, rtol=1e-15)

    def test_one_rounded_row(self):
        with pytest.warns(CoevoWarning) as caught:
            parse_bif(coin("table 0.5, 0.501;"))
        assert str(caught[0].message) == (
            "<text>, line 2, column 24: the table of 'coin' sums to 1.001; it was normalised."
        )


MISTAKES = {
    # the frame
    "variabel x { }": "1, column 1: expected 'network', 'variable' or 'probability', "
    "found 'variabel'.",
    "network a { }\nnetwork b { }": "2, column 1: this is a second network block.",
    "network a b { }": "1, column 11: expected '{' after the name of the network, found 'b'.",
    "network a {\n  author me;\n}": "2, column 3: expected 'property' or '}' in the network "
    "block, found 'author'.",
    "network a { property x": "1, column 21: expected ';' after this property, found none.",
    "network a {": "1, column 12: expected 'property' or '}' in the network block, "
    "found the end of the file.",
    "/* open": "1, column 1: the comment that starts here is never closed.",
    'network "a {\n}': "1, column 9: the string that starts here is never closed.",
    # variables
    "variable { }": "1, column 10: expected the name of a variable, found '{'.",
    "variable x": "1, column 11: expected '{' after the variable 'x', found the end of the file.",
    "variable x { }": "1, column 1: the variable 'x' has no type.",
    "variable x { states a, b; }": "1, column 14: expected 'type', 'property' or '}' in the "
    "block of 'x', found 'states'.",
    "variable x { type continuous; }": "1, column 19: the type of 'x' is 'continuous'; "
    "only discrete is supported.",
    "variable x { type discrete { a }; }": "1, column 28: expected '[' after the type of 'x', "
    "found '{'.",
    "variable x { type discrete [ two ] { a, b }; }": "1, column 30: expected the number of "
    "states of 'x', found 'two'.",
    "variable x { type discrete [ 2 { a, b }; }": "1, column 32: expected ']' after the number "
    "of states of 'x', found '{'.",
    "variable x { type discrete [ 2 ] a, b; }": "1, column 34: expected '{' before the states "
    "of 'x', found 'a'.",
    "variable x { type discrete [ 2 ] { a, (b) }; }": "1, column 39: expected a state of 'x' "
    "or '}', found '('.",
    "variable HR {\n  type discrete [ 2 ] { a, b }\n}": "3, column 1: expected ';' after the "
    "states of 'HR', found '}'.",
    "variable x { type discrete [ 3 ] { a, b }; }": "1, column 30: 'x' lists 2 of 3 states.",
    "variable x { type discrete [ 999999999 ] { a }; }": "1, column 30: 'x' lists 1 of "
    "999,999,999 states.",
    "variable x { type discrete [ 0 ] { }; }": "1, column 30: 'x' has no states.",
    "variable x { type discrete [ 3 ] { a, b, a }; }": "1, column 30: 'x' lists the state 'a' "
    "twice.",
    "variable x { type discrete [1] {a}; type discrete [1] {a}; }": "1, column 37: 'x' has a "
    "second type.",
    coin() + "variable coin { }": "3, column 10: the variable 'coin' is declared twice.",
    # heads of probability blocks
    coin().partition("\n")[0]: "1, column 10: 'coin' has no probability block.",
    "probability x { }": "1, column 13: expected '(' after 'probability', found 'x'.",
    "probability ( ) { }": "1, column 15: expected the child of a probability block, found ')'.",
    "probability ( x | y | z ) { }": "1, column 21: expected a parent of 'x' or ')', found '|'.",
    "probability ( x | y ) table 1;": "1, column 23: expected '{' after the parents of 'x', "
    "found 'table'.",
    "\nprobability ( x ) { table 1;\nvariable y { }": "2, column 1: the probability block of "
    "'x' is never closed.",
    'probability ( x ) { ("a) 1; }': "1, column 22: the string that starts here is never closed.",
    coin() + coin().partition("\n")[2]: "3, column 15: 'coin' has a second probability block.",
    "probability ( coin ) { }": "1, column 15: this probability block is for 'coin', which is "
    "not a variable.",
    coin().replace("( coin )", "( coni )"): "2, column 15: this probability block is for 'coni', "
    "which is not a variable. Did you mean 'coin'?",
    coin().replace("( coin )", "( coin | luck )"): "2, column 22: 'coin' has the parent 'luck', "
    "which is not a variable.",
    coin().replace("( coin )", "( coin | coin )"): "2, column 22: 'coin' is its own parent.",
    with_parent("").replace("b | a", "b | a, a"): "4, column 22: 'b' has the parent 'a' twice.",
    with_parent("").replace("( a )", "( a | b )"): "3, column 15: the arcs contain a cycle: "
    "'a' -> 'b' -> 'a'.",
    # bodies
    coin(""): "2, column 25: 'coin' has no probabilities.",
    coin("row 0.5, 0.5;"): "2, column 24: expected 'table', 'default' or a row for 'coin', "
    "found 'row'.",
    coin("table 0.5, 0.5"): "2, column 39: expected ';' after the table of 'coin', found '}'.",
    coin("table 0.5, half;"): "2, column 35: expected a number in the table of 'coin', "
    "found 'half'.",
    coin("table 0.5, nan;"): "2, column 35: expected a number in the table of 'coin', found 'nan'.",
    coin("table 0.5, 1_0;"): "2, column 35: expected a number in the table of 'coin', found '1_0'.",
    coin("table 0.5, 1e;"): "2, column 35: expected a number in the table of 'coin', found '1e'.",
    coin("table 1.0;"): "2, column 24: the table of 'coin' has 1 probability; it needs 2.",
    coin("table 0.5, 0.5; table 0.5, 0.5;"): "2, column 40: 'coin' has a second 'table'.",
    coin("default 0.5, 0.5; default 1, 0;"): "2, column 42: 'coin' has a second 'default'.",
    coin("table 0.5, 0.5; default 0.5, 0.5;"): "2, column 40: 'coin' has a table and also rows.",
    coin("table -0.5, 1.5;"): "2, column 24: the table of 'coin' has the probability -0.5.",
    coin("table 1e999, 0;"): "2, column 24: the table of 'coin' has the probability inf.",
    coin("table 1e308, 1e308;"): "2, column 24: the table of 'coin' sums to inf; it must sum to 1.",
    coin("table 0.5, 0.4;"): "2, column 24: the table of 'coin' sums to 0.9; it must sum to 1.",
    with_parent("(x) 0.2, 0.3, 0.5; (z) 0.2, 0.3, 0.5;"): "4, column 44: 'z' in this row for "
    "'b' is not a state of its parent 'a'.",
    with_parent("(x, y) 0.2, 0.3, 0.5;"): "4, column 25: this row for 'b' has 2 states; "
    "it needs one for each of 1 parent.",
    with_parent("(x) 0.2, 0.3;"): "4, column 25: the row (x) of 'b' has 2 probabilities; "
    "it needs 3.",
    with_parent("(x) 0.2, 0.3, 0.5 (y) 1, 0, 0;"): "4, column 43: expected ';' after the row "
    "(x) of 'b', found '('.",
    with_parent("(x 0.2, 0.3, 0.5;"): "4, column 41: expected a state in a row for 'b' or ')', "
    "found ';'.",
    with_parent("(x) 1, 0, 0; (y) 1, 0, 0; (x) 1, 0, 0;"): "4, column 51: the row (x) of 'b' is "
    "given twice.",
    with_parent("(y) 1, 0, 0;"): "4, column 38: the row (x) of 'b' is missing, and there is no "
    "default.",
    with_parent(""): "4, column 26: the row (x) of 'b' and 1 more are missing, and there is no "
    "default.",
    with_parent("(x) 1, 0, 0; (y) 0.5, 0.4, 0;"): "4, column 38: the row (y) of 'b' sums to "
    "0.9; it must sum to 1.",
    with_parent("(x) 1, 0, 0; (y) 1.5, -0.5, 0;"): "4, column 38: the row (y) of 'b' has the "
    "probability -0.5.",
    with_parent("default 0.5, 0.4, 0;"): "4, column 25: the default row of 'b' sums to 0.9; "
    "it must sum to 1.",
    with_parent("table 0.5, 0.5, 0.2, 0.2, 0.3, 0.4;"): "4, column 25: the row (y) of 'b' sums "
    "to 1.1; it must sum to 1.",
    with_parent("table 0.2, 0.3, 0.5;"): "4, column 25: the table of 'b' has 3 probabilities; "
    "it needs 6.",
}


@pytest.mark.parametrize(("text", "sentence"), MISTAKES.items())
def test_each_mistake_has_its_message(text, sentence):
    with pytest.raises(FormatError) as caught:
        parse_bif(text, "x.bif")
    assert str(caught.value) == f"x.bif, line {sentence}"


def test_line_and_column_survive_comments_and_other_newlines():
    text = "// one\r\n/* two\r\nthree */ # four\rnetwork a { } oops"
    with pytest.raises(FormatError, match=r"^<text>, line 4, column 15: .* found 'oops'\.$"):
        parse_bif(text.replace("# four", ""))


class TestBounds:
    """The reader refuses a damaged or hostile file quickly, with a short message."""

    def test_a_default_for_a_table_of_any_size(self):
        names = [f"v{i}" for i in range(3000)]
        text = "".join(f"variable {n} {{ type discrete [ 40 ] {{ {FORTY} }}; }}\n" for n in names)
        text += f"probability ( v0 | {', '.join(names[1:])} ) {{ default {'0.025,' * 40}; }}\n"
        text += "".join(f"probability ( {n} ) {{ default {'.025 ' * 40}; }}\n" for n in names[1:])
        with pytest.raises(FormatError) as caught:
            parse_bif(text)
        assert str(caught.value) == (
            "<text>, line 3001, column 15: the table of 'v0' is too large: with it, the network "
            "has more than 33,554,432 probabilities."
        )

    def test_too_many_states(self):
        states = ", ".join(map(str, range(70_000)))
        with pytest.raises(FormatError) as caught:
            parse_bif(f"variable x {{ type discrete [ 70000 ] {{ {states} }}; }}")
        assert str(caught.value) == (
            "<text>, line 1, column 30: 'x' has 70,000 states; the most is 65,535."
        )

    def test_more_parents_than_an_array_has_axes(self):
        names = [f"v{i}" for i in range(80)]
        text = "".join(f"variable {n} {{ type discrete [ 1 ] {{ a }}; }}\n" for n in names)
        text += "".join(f"probability ( {n} ) {{ table 1; }}\n" for n in names[1:])
        text += f"probability ( v0 | {' '.join(names[1:])} ) {{ ({'a ' * 79}) VALUE; }}\n"
        assert parse_bif(text.replace("VALUE", "1")).n_configurations("v0") == 1
        with pytest.raises(FormatError, match=r"the row \(a, .*, a\) of 'v0' sums to 0\.5; it"):
            parse_bif(text.replace("VALUE", "0.5"))

    @pytest.mark.parametrize(
        "text",
        [
            "{" * 200_000,
            "(" * 200_000,
            '"' * 200_001,
            "/*" * 100_000,
            " " * 200_000 + "x",
            "variable x { " * 20_000,
            coin("(" * 100_000),
            coin("(a) " + " " * 200_000 + "x"),
            coin("(a " * 50_000),
            coin("table " + "0.1 " * 100_000),
            coin('property "' * 20_000),
            "probability (" + "a," * 100_000,
            "x" * 1_000_000,
            "variable a { type discrete [ " + "9" * 10_000 + " ] { a }; }",
        ],
    )
    def test_garbage_takes_linear_time(self, text):
        start = time.process_time()
        with pytest.raises(FormatError) as caught:
            parse_bif(text)
        assert time.process_time() - start < 5
        assert len(str(caught.value)) < 200


FORTY = ", ".join(f"s{i}" for i in range(40))


class TestFiles:
    def test_plain_compressed_and_with_a_bom(self, tmp_path):
        for name, data in [
            ("plain.bif", RAIN.encode()),
            ("bom.bif", b"\xef\xbb\xbf" + RAIN.encode()),
            ("packed.bif.gz", gzip.compress(RAIN.encode())),
            (
                "compressed_without_the_extension.bif",
                gzip.compress(b"\xef\xbb\xbf" + RAIN.encode()),
            ),
        ]:
            (tmp_path / name).write_bytes(data)
            assert read_bif(tmp_path / name) == parse_bif(RAIN)
            assert read_bif(str(tmp_path / name)).name == "weather"

    def test_names_outside_ascii(self, tmp_path):
        (tmp_path / "a.bif").write_bytes(coin(states="[ 2 ] { tête, 裏 }").encode())
        assert read_bif(tmp_path / "a.bif").variable("coin").states == ("tête", "裏")

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (RAIN.replace("sky", "caf\xe9").encode("latin-1"), ", line 6: the byte 0xe9 is not"),
            (RAIN.encode("utf-16"), ", line 1: the byte 0xff is not"),
        ],
    )
    def test_another_encoding(self, tmp_path, data, sentence):
        (tmp_path / "a.bif").write_bytes(data)
        with pytest.raises(FormatError) as caught:
            read_bif(tmp_path / "a.bif")
        assert str(caught.value) == f"{tmp_path}/a.bif{sentence} UTF-8. Save the file as UTF-8."

    @pytest.mark.parametrize("keep", [2, 10, 15, -1])
    def test_truncated_gzip(self, tmp_path, keep):
        (tmp_path / "a.bif.gz").write_bytes(gzip.compress(RAIN.encode())[:keep])
        with pytest.raises(FileError) as caught:
            read_bif(tmp_path / "a.bif.gz")
        assert str(caught.value) == (
            f"'{tmp_path}/a.bif.gz' ends in the middle of its compressed data. "
            "Copy or download it again."
        )

    def test_damaged_gzip(self, tmp_path):
        data = bytearray(gzip.compress(RAIN.encode()))
        data[30] ^= 0xFF
        (tmp_path / "a.bif.gz").write_bytes(data)
        with pytest.raises(FileError, match="has damaged compressed data"):
            read_bif(tmp_path / "a.bif.gz")

    def test_missing_file_and_folder(self, tmp_path):
        with pytest.raises(FileError) as caught:
            read_bif(tmp_path / "a.bif")
        assert str(caught.value) == f"There is no file '{tmp_path}/a.bif'."
        with pytest.raises(FileError) as caught:
            read_bif(tmp_path)
        assert str(caught.value) == f"'{tmp_path}' is a folder. Name a file in it."

    def test_a_mistake_in_a_file_names_the_file(self, tmp_path):
        (tmp_path / "a.bif").write_text("network a {")
        with pytest.raises(FormatError, match=r"a\.bif, line 1, column 12: expected 'property'"):
            read_bif(tmp_path / "a.bif")
