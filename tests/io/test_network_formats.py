"""XMLBIF, NET and JSON: the layouts, the dialects, and the message for each mistake."""

import json

import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoWarning, FormatError
from coevo.graph import DAG
from coevo.io import format_model, parse_model, read_model
from coevo.network import BayesianNetwork
from helpers.errors import refusal

RAIN = BayesianNetwork(
    [Variable("very wet", ("no", "<5", 'say "hi"')), Variable("rain", ("0", " 1"))],
    {"very wet": ["rain"]},
    {"very wet": [[0.7, 0.2, 0.1], [1e-05, 0.0, 0.99999]], "rain": [0.8, 0.2]},
    "weather",
)
XMLBIF = """\
<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>weather</NAME>
<VARIABLE TYPE="nature">
  <NAME>very wet</NAME>
  <OUTCOME>no</OUTCOME>
  <OUTCOME>&lt;5</OUTCOME>
  <OUTCOME>say "hi"</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>rain</NAME>
  <OUTCOME>0</OUTCOME>
  <OUTCOME xml:space="preserve"> 1</OUTCOME>
</VARIABLE>
<DEFINITION>
  <FOR>very wet</FOR>
  <GIVEN>rain</GIVEN>
  <TABLE>
    0.7 0.2 0.1
    1e-05 0.0 0.99999
  </TABLE>
</DEFINITION>
<DEFINITION>
  <FOR>rain</FOR>
  <TABLE>
    0.8 0.2
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""
NET = """\
net
{
  name = "weather";
}
node very_wet
{
  states = ("no" "<5" "say \\"hi\\"");
  coevo_name = "very wet";
}
node rain
{
  states = ("0" " 1");
}
potential (very_wet | rain)
{
  data = ((0.7 0.2 0.1) (1e-05 0.0 0.99999));
}
potential (rain)
{
  data = (0.8 0.2);
}
"""
JSON = """\
{
  "format": "coevo",
  "version": 1,
  "name": "weather",
  "variables": [
    {"name": "very wet", "states": ["no", "<5", "say \\"hi\\""], "parents": ["rain"], \
"table": [[0.7, 0.2, 0.1], [1e-05, 0.0, 0.99999]]},
    {"name": "rain", "states": ["0", " 1"], "parents": [], "table": [[0.8, 0.2]]}
  ],
  "cpdag": {"arcs": [], "edges": [["rain", "very wet"]]}
}
"""


NEW_XMLBIF = XMLBIF.replace(
    """<OUTCOME xml:space="preserve"> 1</OUTCOME>
""",
    """<OUTCOME>_1</OUTCOME>
  <PROPERTY>coevo_labels = ["0", " 1"]</PROPERTY>
""",
)
NEW_NET = NET.replace(
    """  states = ("no" "<5" "say \\"hi\\"");
  coevo_name = "very wet";
""",
    """  states = ("no" "lt_5" "say_hi_");
  coevo_name = "very wet";
  coevo_labels = ("no" "<5" "say \\u0022hi\\u0022");
""",
).replace(
    """  states = ("0" " 1");
""",
    """  states = ("0" "_1");
  coevo_labels = ("0" " 1");
""",
)


@pytest.mark.parametrize(
    ("name", "text"), [("xmlbif", NEW_XMLBIF), ("net", NEW_NET), ("json", JSON)]
)
def test_layout(name, text):
    assert format_model(RAIN, name) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [("xmlbif", NEW_XMLBIF), ("net", NEW_NET), ("json", JSON), ("xmlbif", XMLBIF), ("net", NET)],
)
def test_layouts_of_this_version_and_of_0_2_0(name, text):
    assert parse_model(text, name) == RAIN
    assert parse_model("\ufeff" + text.replace("\n", "\r\n"), name) == RAIN


@pytest.mark.parametrize("name", ["bif", "xmlbif", "net", "json"])
def test_the_empty_network(name):
    empty = BayesianNetwork([], {}, {}, "nothing")
    assert parse_model(format_model(empty, name), name) == empty


def test_the_empty_structure_stays_a_structure():
    assert parse_model(format_model(DAG([]), "json"), "json") == DAG([])


@pytest.mark.parametrize("name", ["bif", "xmlbif", "net"])
def test_structures_are_refused_where_tables_are_needed(name):
    label = name.upper()
    assert refusal(FormatError, format_model, DAG(["a"]), name) == (
        f"{label} needs states and tables, and a structure has none. Write one of json, dot, "
        "graphml, adjacency, edges, modelstring, or fit tables to it first."
    )


@pytest.mark.parametrize(
    ("name", "text", "notice"),
    [
        (
            "xmlbif",
            XMLBIF.replace("0.7 0.2", "0.6999 0.2").replace("0.8 0.2", "0.8 0.1999"),
            "a, line 19, column 3: the row (0) of 'very wet' sums to 0.9999; this row and 1 more "
            "were normalised.",
        ),
        (
            "net",
            NET.replace("0.7 0.2", "0.6999 0.2"),
            "a, line 16, column 3: the row (0) of 'very_wet' sums to 0.9999; it was normalised.",
        ),
        (
            "json",
            JSON.replace("0.7, 0.2", "0.6999, 0.2"),
            "a, variable 1: the row (0) of 'very wet' sums to 0.9999; it was normalised.",
        ),
    ],
)
def test_rounded_rows_are_normalised_with_a_warning(name, text, notice):
    with pytest.warns(CoevoWarning) as caught:
        network = parse_model(text, name, "a")
    assert [str(found.message) for found in caught] == [notice]
    assert network.table("very wet").sum(axis=1) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "text", "notice"),
    [
        (  # as in the public file Pathfinder.net
            "net",
            NET.replace("1e-05 0.0 0.99999", "1e-05 -1.19e-07 0.99999"),
            "a, line 16, column 3: the row ( 1) of 'very_wet' has the probability -1.19e-07, "
            "which was read as 0; it was normalised.",
        ),
        (  # as in ChestClinicNetica.net; the quote in the comment belongs to no string
            "net",
            NET.replace("  name =", '  comment = "50 % of \r\n  the rows"; % 5" of rain\n  name ='),
            "a, line 3, column 13: this string goes over the end of a line; the line break was "
            "read as a blank.",
        ),
        (
            "net",
            NET.replace("0.8 0.2", "80 20").replace("0.7 0.2 0.1", "21 6 3"),
            "a, line 16, column 3: the row (0) of 'very_wet' sums to 30; this row and 1 more were "
            "normalised.",
        ),
        (  # as in Water.bifxml
            "xmlbif",
            "\n  " + XMLBIF,
            "a, line 2, column 3: blanks stand before '<?xml', where XML allows none; they were "
            "ignored.",
        ),
    ],
    ids=["negative", "line break", "counts", "blanks"],
)
def test_what_public_files_hold_is_corrected_in_one_line(name, text, notice):
    with pytest.warns(CoevoWarning) as caught:
        network = parse_model(text, name, "a")
    assert [str(found.message) for found in caught] == [notice]
    assert network.variables == RAIN.variables
    for variable in RAIN.variables:
        assert network.table(variable.name) == pytest.approx(RAIN.table(variable.name), abs=1e-12)


def test_a_line_break_in_a_state_is_a_blank():
    with pytest.warns(CoevoWarning, match="line break was read as a blank"):
        network = parse_model(NET.replace('"0" " 1"', '"very\n   dry" " 1"'), "net", "a")
    assert network.variable("rain").states == ("very dry", " 1")


def test_places_after_a_late_declaration_are_those_of_the_file():
    text = "\n" + XMLBIF.replace("0.8 0.2", "0.8 -0.2")
    with pytest.warns(CoevoWarning, match="blanks stand before"):
        assert refusal(FormatError, parse_model, text, "xmlbif", "a") == (
            "a, line 27, column 3: the table of 'rain' has the probability -0.2."
        )


def refused(name, text, *changes):
    """Return the error message for a text after replacing parts of it."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return refusal(FormatError, parse_model, text, name, "a")


class TestXmlbif:
    def test_dialects(self):
        """A document type, comments, properties, other blanks, an unknown element."""
        text = """<?xml version="1.0"?>
        <!-- a comment with <BIF> in it -->
        <!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
        <BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
        <NETWORK><NAME>n</NAME><PROPERTY>software x</PROPERTY>
        <DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN>
          <TABLE>0.1 <!-- a = x --> 0.9 <!-- a = y --> .5 5e-1</TABLE></DEFINITION>
        <VARIABLE><NAME> a </NAME><OUTCOME> x</OUTCOME><OUTCOME><![CDATA[<y>]]></OUTCOME>
          <PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
        <VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
        <DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
        </NETWORK></BIF>"""
        found = parse_model(text, "xmlbif")
        assert found.variables == (Variable("a", ("x", "<y>")), Variable("b", ("0", "1")))
        assert found.table("b").tolist() == [[0.1, 0.9], [0.5, 0.5]]

    def test_the_last_parent_varies_faster_than_the_first(self):
        text = format_model(
            BayesianNetwork(
                [Variable(name, tuple("xyz"[:n])) for name, n in (("a", 2), ("b", 3), ("c", 2))],
                {"c": ["a", "b"]},
                {
                    "a": [0.5, 0.5],
                    "b": [0.25, 0.25, 0.5],
                    "c": [[0, 1], [0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5]],
                },
            ),
            "xmlbif",
        )
        swapped = text.replace(
            "<GIVEN>a</GIVEN>\n  <GIVEN>b</GIVEN>", "<GIVEN>b</GIVEN>\n  <GIVEN>a</GIVEN>"
        )
        assert parse_model(swapped, "xmlbif").table("c")[2].tolist() == [0.2, 0.8]
        assert parse_model(swapped, "xmlbif").parents("c") == ("b", "a")

    def test_entities_are_refused(self):
        bomb = '<!DOCTYPE BIF [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<BIF>&b;</BIF>'
        assert refusal(FormatError, parse_model, bomb, "xmlbif", "a") == (
            "a, line 1, column 27: the entity 'a' is not supported. Replace it by its text."
        )
        outside = '<!DOCTYPE BIF [<!ENTITY f SYSTEM "file:///etc/passwd">]><BIF>&f;</BIF>'
        assert "the entity 'f' is not supported" in refused("xmlbif", outside)
        skipped = '<!DOCTYPE BIF SYSTEM "bif.dtd">\n<BIF>&nbsp;</BIF>'
        assert refusal(FormatError, parse_model, skipped, "xmlbif", "a") == (
            "a, line 2, column 6: the entity 'nbsp' is not supported. Replace it by its text."
        )

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ([("</BIF>", "")], "a, line 32, column 1: this is not XML: no element found."),
            ([(XMLBIF, "")], "a, line 1, column 1: this is not XML: no element found."),
            (
                [("<BIF V", "<bif V"), ("</BIF", "</bif")],
                "a, line 2, column 1: the outermost element must be 'BIF', not 'bif'.",
            ),
            (
                [("<NAME>rain</NAME>", "")],
                "a, line 11, column 1: this VARIABLE has no NAME.",
            ),
            (
                [("<OUTCOME>no", "<NAME>no"), ("no</OUTCOME>", "no</NAME>")],
                "a, line 7, column 3: this VARIABLE has more than one NAME.",
            ),
            (
                [('TYPE="nature"', 'TYPE="utility"')],
                "a, line 5, column 1: 'very wet' is a utility; only nature variables are "
                "supported.",
            ),
            ([("&lt;5", "no")], "a, line 6, column 3: 'very wet' lists the state 'no' twice."),
            (
                [("<NAME>rain", "<NAME>very wet")],
                "a, line 12, column 3: the variable 'very wet' is declared twice.",
            ),
            (
                [("<GIVEN>rain", "<GIVEN>rian")],
                "a, line 18, column 3: 'very wet' has the parent 'rian', which is not a variable. "
                "Did you mean 'rain'?",
            ),
            (
                [("<FOR>rain", "<FOR>very wet")],
                "a, line 25, column 3: 'very wet' has a second DEFINITION.",
            ),
            (
                [("<GIVEN>rain", "<GIVEN>very wet")],
                "a, line 18, column 3: 'very wet' is its own parent.",
            ),
            (
                [("<FOR>rain</FOR>", "<FOR>rain</FOR><GIVEN>very wet</GIVEN>")],
                "a, line 17, column 3: the arcs contain a cycle: 'rain' -> 'very wet' -> 'rain'.",
            ),
            (
                [("0.7 0.2 0.1", "0.7 0.3")],
                "a, line 19, column 3: the table of 'very wet' has 5 probabilities; it needs 6.",
            ),
            (
                [("0.8 0.2", "0.8 nan")],
                "a, line 26, column 3: the table of 'rain' holds 'nan', which is not a number.",
            ),
            (
                [("0.8 0.2", "1.2 -0.2")],
                "a, line 26, column 3: the table of 'rain' has the probability -0.2.",
            ),
            (
                [("0.7 0.2 0.1", "0.7 0.2 0.2")],
                "a, line 19, column 3: the row (0) of 'very wet' sums to 1.1; it must sum to 1.",
            ),
        ],
    )
    def test_mistakes(self, changes, sentence):
        assert refused("xmlbif", XMLBIF, *changes) == sentence

    def test_missing_definition(self):
        start = XMLBIF.index("<DEFINITION>\n  <FOR>rain")
        text = XMLBIF[:start] + "</NETWORK></BIF>"
        assert refused("xmlbif", text) == "a, line 12, column 3: 'rain' has no DEFINITION."

    def test_names_that_xml_cannot_hold(self):
        network = BayesianNetwork([Variable("a\x07", ("x", ""))], {}, {"a\x07": [1.0, 0.0]})
        text = format_model(network, "xmlbif")
        assert "<NAME>a_</NAME>" in text
        assert parse_model(text, "xmlbif") == network


class TestNet:
    def test_dialects(self):
        """As Hugin writes it: `discrete`, labels, comments, application fields, bare data."""
        found = parse_model(
            """% made by hand
            net { node_size = (80 40); HR_Grid_X = "10"; }
            discrete node A { label = "Visit to Asia?"; position = (10 20); states=("y" "n"); }
            node B{states = (one two three);}  % words
            potential (B | A) {
              data = ( ( 0.1 0.2 0.7 )   % A=y
                       ( 0.3 .3 4E-1 ) );
            }
            potential (A |) { experience = (1); data = 0.25 0.75; }""",
            "net",
        )
        assert found.variables == (
            Variable("A", ("y", "n")),
            Variable("B", ("one", "two", "three")),
        )
        assert found.table("B").tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
        assert found.table("A").tolist() == [[0.25, 0.75]]

    def test_identifiers_are_unique(self):
        names = ["a b", "a_b", "a,b", "a_b_2", "1", "_1", "node", "é", ""]
        network = BayesianNetwork(
            [Variable(name, ("x", "y")) for name in names],
            {"a b": ["a,b", ""], "1": ["node"]},
            {name: [[0.25, 0.75]] * {"a b": 4, "1": 2}.get(name, 1) for name in names},
        )
        assert parse_model(format_model(network, "net"), "net") == network

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            (
                [("net\n", "nte\n")],
                "a, line 1, column 1: expected 'net', 'node' or 'potential', found 'nte'.",
            ),
            (
                [("node rain", "continuous node rain")],
                "a, line 10, column 1: 'continuous' is not supported. Use only discrete "
                "nodes and potentials.",
            ),
            ([('"<5" ', '"no" ')], "a, line 5, column 6: 'very_wet' lists the state 'no' twice."),
            ([('  states = ("0" " 1");\n', "")], "a, line 10, column 6: 'rain' has no states."),
            (
                [("node rain", "node very_wet")],
                "a, line 10, column 6: the variable 'very_wet' is declared twice.",
            ),
            (
                [("| rain", "| rian")],
                "a, line 14, column 23: 'very_wet' has the parent 'rian', which is not a "
                "variable. Did you mean 'rain'?",
            ),
            (
                [("potential (rain)", "potential (very_wet)")],
                "a, line 18, column 12: 'very_wet' has a second potential.",
            ),
            (
                [("potential (rain)", "potential (rain very_wet)")],
                "a, line 18, column 17: expected ')' or '|' after the child 'rain', found "
                "'very_wet'.",
            ),
            (
                [("  data = (0.8 0.2);\n", "")],
                "a, line 18, column 12: the potential of 'rain' has no data.",
            ),
            (
                [("(0.8 0.2)", "(0.8 nan)")],
                "a, line 20, column 15: expected a number in the data of 'rain', found 'nan'.",
            ),
            (
                [("(0.8 0.2)", "normal(0, 1)")],
                "a, line 20, column 10: expected a number in the data of 'rain', found 'normal'.",
            ),
            (
                [("(0.8 0.2)", "(0.8)")],
                "a, line 20, column 3: the table of 'rain' has 1 probability; it needs 2.",
            ),
            (
                [("(0.8 0.2)", "(0 0)")],
                "a, line 20, column 3: the table of 'rain' sums to 0; its sum must be above 0.",
            ),
            (
                [("(0.8 0.2)", "(1.1 -0.1)")],
                "a, line 20, column 3: the table of 'rain' has the probability -0.1.",
            ),
            (
                [('" 1");', '" 1")')],
                "a, line 13, column 1: expected ';' after the value of 'states', found '}'.",
            ),
            (
                [('"weather";', '"weather;')],
                "a, line 3, column 10: the string that starts here is never closed.",
            ),
            (
                [("states =", "states")],
                "a, line 7, column 10: expected '=' after 'states', found '('.",
            ),
            (
                [("  name", '  "name"')],
                "a, line 3, column 3: expected a field or '}' in the net block, found 'name'.",
            ),
        ],
    )
    def test_mistakes(self, changes, sentence):
        assert refused("net", NET, *changes) == sentence


class TestJson:
    def test_the_cpdag_is_ignored(self):
        facts = json.loads(JSON)
        facts["cpdag"] = {"arcs": [["rain", "very wet"]], "edges": []}
        assert parse_model(json.dumps(facts), "json") == RAIN
        del facts["cpdag"]
        assert parse_model(json.dumps(facts, indent=4), "json") == RAIN

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ([(JSON, "")], "a, line 1, column 1: this is not JSON: Expecting value."),
            (
                [('"version": 1,', '"version": 1')],
                "a, line 4, column 3: this is not JSON: Expecting ',' delimiter.",
            ),
            (
                [(JSON, '{"a": ["x"]}')],
                "a: this is JSON, but not a network: the field 'format' must be 'coevo'.",
            ),
            (
                [(JSON, "[" * 100_000)],
                "a: this is not JSON: it is nested more than 100 deep.",
            ),
            (
                [('"version": 1', '"version": 2')],
                "a: this is version '2'; only version 1 is supported.",
            ),
            ([('  "version": 1,\n', "")], "a: the field 'version' is missing."),
            (
                [('"name": "weather"', '"version": 1')],
                "a: this is not JSON: the field 'version' is given twice.",
            ),
            ([('"name": "weather"', '"title": "weather"')], "a: there is no field 'title' here."),
            (
                [('"parents": []', '"parent": []')],
                "a, variable 2: there is no field 'parent' here. Did you mean 'parents'?",
            ),
            ([('"parents": [], ', "")], "a, variable 2: the field 'parents' is missing."),
            (
                [('"parents": []', '"parents": "x"')],
                "a, variable 2: the parents of 'rain' must be a list; got '\"x\"'.",
            ),
            (
                [('["0", " 1"]', '["0", 1]')],
                "a, variable 2: each of the states of 'rain' must be a string; got '1'.",
            ),
            (
                [(', "table": [[0.8, 0.2]]', "")],
                "a, variable 2: 'rain' has the field 'states' but not 'table'.",
            ),
            (
                [('"states": ["0", " 1"], ', ""), (', "table": [[0.8, 0.2]]', "")],
                "a: 'rain' has no table, but other variables have.",
            ),
            (
                [("[[0.8, 0.2]]", "[0.8, 0.2]")],
                "a, variable 2: a row of the table of 'rain' must be a list; got '0.8'.",
            ),
            (
                [("[[0.8, 0.2]]", "[[0.8]]")],
                "a, variable 2: a row of the table of 'rain' has 1 number for 2 states.",
            ),
            (
                [("[[0.8, 0.2]]", "[[0.8, true]]")],
                "a, variable 2: the table of 'rain' holds 'true', which is not a number.",
            ),
            (
                [("[[0.8, 0.2]]", "[[0.8, NaN]]")],
                "a: this is not JSON: NaN is not a valid JSON number.",
            ),
            (
                [("[[0.8, 0.2]]", "[[0.8, 1e999]]")],
                "a, variable 2: the table of 'rain' has the probability inf.",
            ),
            (
                [("[[0.8, 0.2]]", "[]")],
                "a, variable 2: the table of 'rain' has 0 probabilities; it needs 2.",
            ),
            (
                [('["rain"]', '["rian"]')],
                "a, variable 1: 'very wet' has the parent 'rian', which is not a variable. "
                "Did you mean 'rain'?",
            ),
            (
                [('"name": "rain"', '"name": "very wet"')],
                "a, variable 2: the variable 'very wet' is declared twice.",
            ),
            (
                [('    {"name": "rain"', '    3, {"name": "rain"')],
                "a, variable 2: expected an object, found '3'.",
            ),
        ],
    )
    def test_mistakes(self, changes, sentence):
        assert refused("json", JSON, *changes) == sentence


@pytest.mark.parametrize(
    "encoding", ["undefined", "punycode", "idna", "unicode_escape", "rot13", "base64", "x" * 50]
)
def test_an_encoding_of_xml_that_is_no_encoding_of_text(encoding, tmp_path):
    path = tmp_path / "a.xml"
    text = format_model(load_network("asia"), "xmlbif").replace("UTF-8", encoding)
    path.write_bytes(text.encode() + b"\xff")
    with pytest.raises(FormatError) as caught:
        read_model(path)
    assert str(caught.value) == (
        f"{path}, line 1: there is no encoding {encoding!r}. Save the file as UTF-8."
    )
