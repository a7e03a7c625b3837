"""DOT, GraphML, CSV and model strings: layouts, dialects, and the message for each mistake."""

import pytest

from coevo.errors import FormatError
from coevo.graph import DAG
from coevo.io import format_model, parse_model
from helpers.errors import refusal

RAIN = DAG(["very wet", "rain", 'al"one', "a,b"], [("rain", "very wet"), ("rain", "a,b")])
WRITTEN = {
    "dot": """\
digraph {
  "very wet";
  "rain";
  "al\\"one";
  "a,b";
  "rain" -> "a,b";
  "rain" -> "very wet";
}
""",
    "graphml": """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <graph edgedefault="directed">
    <node id="very wet"/>
    <node id="rain"/>
    <node id="al&quot;one"/>
    <node id="a,b"/>
    <edge source="rain" target="a,b"/>
    <edge source="rain" target="very wet"/>
  </graph>
</graphml>
""",
    "adjacency": """\
,very wet,rain,"al""one","a,b"
very wet,0,0,0,0
rain,1,0,0,1
"al""one",0,0,0,0
"a,b",0,0,0,0
""",
    "edges": """\
from,to
rain,"a,b"
rain,very wet
"al""one",
""",
    "modelstring": '[very wet|rain][rain][al"one][a,b|rain]\n',
}


@pytest.mark.parametrize("name", WRITTEN)
def test_layout(name):
    text = WRITTEN[name]
    assert format_model(RAIN, name) == text
    assert parse_model(text, name) == RAIN
    assert parse_model("\ufeff" + text.replace("\n", "\r\n"), name) == RAIN


@pytest.mark.parametrize("name", ["dot", "graphml", "adjacency", "edges"])
def test_the_empty_structure(name):
    assert parse_model(format_model(DAG([]), name), name) == DAG([])


def refused(name, text):
    return refusal(FormatError, parse_model, text, name, "a")


class TestDot:
    def test_dialects(self):
        found = parse_model(
            r"""/* made by hand */ strict digraph "my graph" {
            # a line of the preprocessor
            graph [rankdir=LR, label=<a <b>bold</b> word>]; node [shape=box] edge[color="red"];
            rankdir = "LR"
            a -> b -> c [label="x -> y"] // a chain
            "a" -> b;  a:n -> d:port:sw
            { rank = same; e; f } -> {g, h}
            subgraph cluster_1 { i -> j; }
            1.5 -> -7; "quo\"te" -> "back\slash"; "two \
lines" }""",
            "dot",
        )
        assert found.arcs == (
            *(("1.5", "-7"), ("a", "b"), ("a", "d"), ("b", "c")),
            *(("e", "g"), ("e", "h"), ("f", "g"), ("f", "h"), ("i", "j")),
            ('quo"te', "back\\slash"),
        )
        assert "two lines" in found.nodes
        assert len(found.nodes) == 15

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "a, line 1, column 1: expected 'digraph', found the end of the file."),
            ("graph { a -- b }", "a, line 1, column 1: the graph is undirected; write a digraph."),
            ("digraph { a -- b }", "a, line 1, column 13: '--' has no direction; write '->'."),
            ("digraph { a -> }", "a, line 1, column 16: expected a node, '}' or '->', found '}'."),
            (
                "digraph { a -> b",
                "a, line 1, column 17: expected a node, '}' or '->', found the end of the file.",
            ),
            (
                "digraph { a\n-> b; a -> b }",
                "a, line 2, column 9: the arc 'a' -> 'b' is given twice.",
            ),
            (
                "digraph {\na -> b; b -> c; c -> b }",
                "a, line 2, column 11: the arcs contain a cycle: 'b' -> 'c' -> 'b'.",
            ),
            ("digraph { a -> a }", "a, line 1, column 13: the arcs contain a cycle: 'a' -> 'a'."),
            (
                'digraph { "a }',
                "a, line 1, column 11: the string that starts here is never closed.",
            ),
            ("digraph { a [label=<b }", "a, line 1, column 20: the '<' here is never closed."),
            (
                "digraph { a } b",
                "a, line 1, column 15: expected nothing after the graph, found 'b'.",
            ),
            (
                "digraph { /* }",
                "a, line 1, column 11: the comment that starts here is never closed.",
            ),
            (
                "digraph " + "{" * 200,
                "a, line 1, column 111: braces are nested more than 100 deep.",
            ),
        ],
    )
    def test_mistakes(self, text, sentence):
        assert refused("dot", text) == sentence

    @pytest.mark.parametrize("name", ["a\\", 'a\\"b', "a\\\nb", "\\\\\\", "\0"])
    def test_names_that_dot_cannot_hold(self, name):
        assert refusal(FormatError, format_model, DAG([name]), "dot") == (
            f"DOT cannot hold the name or state {name!r}: it has a zero byte, or a backslash "
            "before a quote, a line end or its end. Rename it, or write JSON."
        )


class TestGraphml:
    def test_names_in_a_field_as_igraph_writes_them(self):
        text = """<?xml version="1.0" encoding="UTF-8"?>
        <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key id="v_name" for="node" attr.name="name" attr.type="string"/>
        <graph id="G" edgedefault="directed">
        <node id="n0"><data key="v_name">rain</data></node>
        <node id="n1"><data key="v_name">very wet</data></node>
        <edge source="n0" target="n1"/></graph></graphml>"""
        assert parse_model(text, "graphml").arcs == (("rain", "very wet"),)
        without = text.replace('<data key="v_name">rain</data>', "")
        assert parse_model(without, "graphml").arcs == (("n0", "n1"),)

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            (
                '"directed"',
                '"undirected"',
                "a, line 8, column 5: the edge between 'rain' and 'a,b' has no direction.",
            ),
            (
                'target="a,b"',
                'target="ab"',
                "a, line 8, column 5: the target 'ab' is not a node. Did you mean 'a,b'?",
            ),
            ('target="a,b"', "", "a, line 8, column 5: this edge has no target."),
            (
                'target="a,b"',
                'target="very wet"',
                "a, line 9, column 5: the arc 'rain' -> 'very wet' is given twice.",
            ),
            ('id="a,b"', 'id="rain"', "a, line 7, column 5: the node 'rain' is declared twice."),
            ('id="a,b"', "", "a, line 7, column 5: this node has no id."),
            (
                'target="a,b"',
                'target="rain"',
                "a, line 8, column 5: the arcs contain a cycle: 'rain' -> 'rain'.",
            ),
            (
                "</graph>",
                "</graph><graph/>",
                "a, line 10, column 11: this graphml has more than one graph.",
            ),
        ],
    )
    def test_mistakes(self, old, new, sentence):
        text = WRITTEN["graphml"]
        assert old in text
        assert refused("graphml", text.replace(old, new)) == sentence

    def test_one_edge_may_have_a_direction_of_its_own(self):
        text = WRITTEN["graphml"].replace("<edge ", '<edge directed="true" ')
        assert parse_model(text.replace('"directed">', '"undirected">'), "graphml") == RAIN


class TestAdjacency:
    @pytest.mark.parametrize(
        "text",
        [
            ",a,b\na,0,1\nb,0,0\n",
            '"","a","b"\n"a",0,1\n"b",0,0',
            "x;a;b\r\na;FALSE;TRUE\r\nb;FALSE;FALSE\r\n",
            "\ta\tb\nb\t0\t0\na\t0.0\t1.0\n",
            ",a,b\n\na, 0, 1\nb,False,False\n",
        ],
    )
    def test_dialects(self, text):
        assert parse_model(text, "adjacency").arcs == (("a", "b"),)

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "a: the file is empty."),
            (",a,a\na,0,1\na,0,0\n", "a, line 1: the header has the name 'a' twice."),
            (",a,b\na,0,1\n", "a, line 1: the column 'b' has no row of that name."),
            (",a,b\na,0,1\na,0,0\n", "a, line 3: the row 'a' is given twice."),
            (",a,b\na,0,1\nb,0\n", "a, line 3: this row has 2 cells; the header has 3."),
            (
                ",a,b\na,0,0.5\nb,0,0\n",
                "a, line 2: row 'a', column 'b' is '0.5'; it must be 0 or 1.",
            ),
            (",a,b\na,0,1\nb,1,0\n", "a, line 2: the arcs contain a cycle: 'a' -> 'b' -> 'a'."),
            ('a,"b\n', "a, line 1: this is not CSV: unexpected end of data."),
            (
                "smoke,cancer\nyes,no\n",
                "a, line 2: the row 'yes' is not a name of the header, so this is not an "
                "adjacency matrix.",
            ),
        ],
    )
    def test_mistakes(self, text, sentence):
        assert refused("adjacency", text) == sentence


class TestEdges:
    @pytest.mark.parametrize(
        "text",
        [
            "from,to\na,b\nc,\n",
            '"","from","to"\n"1","a","b"\n"2","c",""\n',
            "From;To\na;b\nc;\n",
            "from\tto\na\tb\nc\t\na\t\n",
        ],
    )
    def test_dialects(self, text):
        found = parse_model(text, "edges")
        assert (found.nodes, found.arcs) == (("a", "b", "c"), (("a", "b"),))

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("a,b\n", "a, line 1: the header must be from,to; got 'a,b'."),
            (
                "from,to,strength\na,b,0.5\n",
                "a, line 1: the header must be from,to; got 'from,to,strength'.",
            ),
            ("from,to\na,b,c\n", "a, line 2: this row has 3 cells; the header has 2."),
            ("from,to\n,b\n", "a, line 2: this row has nothing in 'from'."),
            ('from,to\n"a\nb",c\nd,e\nd,e\n', "a, line 5: the arc 'd' -> 'e' is given twice."),
            ("from,to\na,b\nb,a\n", "a, line 2: the arcs contain a cycle: 'a' -> 'b' -> 'a'."),
        ],
    )
    def test_mistakes(self, text, sentence):
        assert refused("edges", text) == sentence

    def test_a_variable_without_a_name(self):
        assert refusal(FormatError, format_model, DAG([""]), "edges") == (
            "A list of arcs cannot hold the name or state '': an empty cell means that there "
            "is no variable. Rename it, or write JSON."
        )


class TestModelString:
    def test_as_r_prints_it(self):
        found = parse_model("\n  [A][C][F][B|A][D|A:C]\n[E|B:F]\n", "modelstring")
        assert found.nodes == tuple("ACFBDE")
        assert found.parents("E") == ("B", "F")

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (
                "",
                "a, line 1, column 1: expected a variable and its parents, such as [A] or [C|A:B].",
            ),
            (
                "[A][B|A",
                "a, line 1, column 4: expected a variable and its parents, such as [A] or [C|A:B].",
            ),
            (
                "[A]\n[]",
                "a, line 2, column 1: expected a variable and its parents, such as [A] or [C|A:B].",
            ),
            ("[A]\n[B|A:]", "a, line 2, column 6: 'B' has a parent without a name."),
            ("[A][A]", "a, line 1, column 5: the variable 'A' is declared twice."),
            ("[A]\n[B|A:A]", "a, line 2, column 6: 'B' has the parent 'A' twice."),
            (
                "[rain][B|rian]",
                "a, line 1, column 10: 'B' has the parent 'rian', which is not a variable. "
                "Did you mean 'rain'?",
            ),
            ("[A|B][B|A]", "a, line 1, column 2: the arcs contain a cycle: 'A' -> 'B' -> 'A'."),
        ],
    )
    def test_mistakes(self, text, sentence):
        assert refused("modelstring", text) == sentence

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("a|b", "it has a bracket, a bar or a colon"),
            ("", "it is empty"),
            ("a\0b", "it has a null character"),  # R has none in any text
        ],
    )
    def test_names_that_it_cannot_hold(self, name, why):
        assert refusal(FormatError, format_model, DAG([name]), "modelstring") == (
            f"A model string cannot hold the name or state {name!r}: {why}. Rename it, or write "
            "JSON."
        )

    def test_no_variables(self):
        assert refusal(FormatError, format_model, DAG([]), "modelstring") == (
            "A model string cannot hold a structure without variables. Write JSON."
        )


def test_names_that_utf_8_cannot_hold():
    for name in ("json", "dot", "adjacency", "edges", "modelstring"):
        assert refusal(FormatError, format_model, DAG(["\ud800"]), name).endswith(
            r" cannot hold the name or state '\ud800': it has half of a surrogate pair, which "
            "UTF-8 cannot hold. Rename it, or write BIF."
        )
