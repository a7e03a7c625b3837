"""``coevo learn``: examples, and the best rejected arc of a network with few arcs."""

from __future__ import annotations

import json
import re

import pytest

import coevo
import coevo.progress.displays
from coevo.bundled import load_network
from coevo.cli.learn_output import _format_arcs, _format_quick_bootstrap, format_answer
from coevo.network import sample
from coevo.score import name_gain

QUICK = ("-m", "hill_climb")


# -- an example instead of a table


def timeless(found):
    return {name: value for name, value in found.items() if name not in ("seconds", "files")}


def test_an_example_is_a_sample_with_its_states(folder, as_json, run):
    arguments = (*QUICK, "--seed", 7)
    found = as_json("learn", "--example", "asia", "--rows", 150, *arguments, "-o", "run")
    rows = sample(load_network("asia"), 150, 7)
    assert (found["n_rows"], found["data_hash"]) == (150, rows.content_hash)
    assert coevo.io.read_bif("run/model.bif").variables == load_network("asia").variables
    assert run("sample", "asia", "--rows", 150, "--seed", 7, "-o", "rows.csv").code == 0
    table = as_json("learn", "rows.csv", "--states", "asia", *arguments)
    assert timeless(found) == timeless(table)
    facts = json.loads((folder / "run/run.json").read_text())
    assert facts["command"][:3] == ["learn", "--example", "asia"]
    assert (folder / "run/report.html").is_file()


def test_an_example_has_a_number_of_rows(folder, as_json):
    assert as_json("learn", "--example", "cancer", *QUICK)["n_rows"] == 5000
    load_network("asia")
    coevo.io.write_bif(load_network("asia"), "own.bif")
    assert as_json("learn", "--example", "own.bif", "--rows", 20, *QUICK)["n_rows"] == 20


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "There is no table. Name a file (coevo learn DATA), or try coevo learn --example "
         "alarm."),
        ("--rows 20", "There is no table. Name a file (coevo learn DATA), or try coevo learn "
         "--example alarm."),
        ("t.csv --example asia", "Give DATA or --example, not both; got 't.csv' and 'asia'."),
        ("t.csv --rows 20", "--rows needs --example; of DATA all rows are used."),
        ("--example asia --drop tub", "--drop needs DATA; it cannot be combined with --example."),
        ("--example asia --bins 3", "--bins needs DATA; it cannot be combined with --example."),
        ("--example asia --states asia", "--states needs DATA; it cannot be combined with "
         "--example."),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_the_table(arguments, sentence, folder, run):
    code, out, err = run("learn", *arguments.split(), "-o", "run")
    assert (code, out) == (2, "")
    usage = "Usage: coevo learn [OPTIONS] [DATA]\nTry 'coevo learn --help' for help.\n\n"
    assert err == f"{usage}Error: {sentence}\n"
    assert not list(folder.iterdir())


def test_an_unknown_example(folder, refused):
    sentence = "There is no file and no bundled network 'alrm'. Did you mean 'alarm'?"
    assert refused("learn", "--example", "alrm") == sentence
    assert refused("learn", "--example", "alrm", "-m", "x").startswith("'method' of learn ")


# -- the best rejected arc


def last_line(run, *arguments):
    code, out, err = run("learn", "t.csv", *arguments)
    assert (code, err) == (0, "")
    return out.splitlines()[-1]


@pytest.fixture
def table(folder):
    """Write ``t.csv``: a and b depend on each other, c and d are independent of them."""
    rows = [(i % 2, i % 2 if i % 7 else 1 - i % 2, i // 2 % 2, i // 4 % 2) for i in range(56)]
    lines = ["a,b,c,d", *(",".join(map(str, row)) for row in rows)]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_network_with_few_arcs_names_the_best_rejected_arc(table, run, as_json):
    found = as_json("learn", "t.csv", *QUICK)
    assert [(arc["from"], arc["to"]) for arc in found["arcs"]] in ([("a", "b")], [("b", "a")])
    rejected = found["best_rejected"]
    assert rejected["gain"] < 0
    assert last_line(run, *QUICK) == (
        f"rejected    {rejected['from']} -> {rejected['to']} is the best other arc; it lowers the "
        f"score by {-rejected['gain']:.2f}"
    )


def test_the_rejected_arc_of_a_search_that_stopped_early(table, run, as_json):
    found = as_json("learn", "t.csv", *QUICK, "--max-generations", 0)
    assert (found["arcs"], found["cpdag"]) == ([], {"arcs": [], "edges": []})
    rejected = found["best_rejected"]
    assert {rejected["from"], rejected["to"]} == {"a", "b"}
    assert last_line(run, *QUICK, "--max-generations", 0) == (
        f"rejected    {rejected['from']} -> {rejected['to']} is the best other arc; it raises the "
        f"score by {rejected['gain']:.2f}: the search stopped early"
    )


def test_near_misses_of_variables_without_arcs(table, run, as_json):
    """They take the place of the rejected arc; pairs of joined variables are not named."""
    found = as_json("learn", "t.csv", *QUICK)
    found["near_misses"] = [
        {"from": "c", "to": "d", "gain": -0.5, "probability": 0.548},
        {"from": "a", "to": "b", "gain": -0.5, "probability": 0.5},
        {"from": "c", "to": "a", "gain": -5.0, "probability": 0.01},
        {"from": "d", "to": "a", "gain": 5.0, "probability": 0.99},
    ]
    assert list(format_answer(found))[-1] == (
        "near miss   c -- d: probability 0.55, if nothing else changes; 0.50 nats short"
    )


def test_a_zero_has_no_sign(as_json, table):
    answer = as_json("learn", "t.csv", *QUICK)
    answer |= {"score": -1e-9, "log_prior": -0.0}
    answer["arcs"][0]["gain"] = -0.001
    answer["columns"]["a"] = {"type": "continuous", "cuts": [-0.0]}
    answer["best_rejected"]["gain"] = 0.0
    text = "\n".join(format_answer(answer))
    assert (
        "score       0.000000  (bdeu, ess 5, 4 nats for each parent, log prior of arcs +0" in text
    )
    assert "  a: cut points 0\n" in text
    assert "\n  0.00  decisive" in text
    assert text.endswith(" is the best other arc; it changes the score by less than 0.01")
    assert not re.search(r"-0(\.0*)?(?![\d.])", text)


def test_a_forbidden_arc_is_not_named_as_rejected(table, run, as_json):
    (table / "known.json").write_text('{"roots": ["a", "b", "c", "d"]}')
    given = (*QUICK, "--constraints", "known.json")
    assert as_json("learn", "t.csv", *given)["best_rejected"] is None
    assert last_line(run, *given) == "rejected    none: no further arc is allowed"


def test_a_network_with_many_arcs_names_no_rejected_arc(table, run):
    (table / "known.json").write_text('{"required": [["a", "c"], ["c", "d"]]}')
    lines = run("learn", "t.csv", *QUICK, "--constraints", "known.json").out.splitlines()
    assert not any(line.startswith("rejected") for line in lines)


# -- many arcs, long names


def make_arc(number, **facts):
    says = f"P(b{number}=1) is 0.90 where a=1, 0.10 elsewhere"
    arc = {"from": "a", "to": f"b{number}", "gain": 40.0 - number, "says": says}
    arc |= {"directed": True, "directed_by": "data"}
    return arc | {"word": name_gain(arc["gain"])} | facts


def format_arcs(arcs, **answer):
    return list(_format_arcs({"arcs": arcs, **answer}))


def test_the_first_arcs_are_listed_and_the_rest_is_counted():
    arcs = [make_arc(number) for number in range(42)]
    lines = format_arcs(arcs)
    assert lines[0] == "arcs        42: 35 decisive, 3 strong, 3 weak, 1 against"
    assert lines[1:4] == [
        "   gain            arc",
        "  40.00  decisive  a -> b0   P(b0=1) is 0.90 where a=1, 0.10 elsewhere",
        "  39.00  decisive  a -> b1   P(b1=1) is 0.90 where a=1, 0.10 elsewhere",
    ]
    rest = "  and 12 more (5 decisive, 3 strong, 3 weak, 1 against), all in "
    assert lines[32:] == [f"{rest}--format json"]
    files = {"run": "run/run.json"}
    assert format_arcs(arcs, files=files)[-1] == f"{rest}run.json and --format json"
    assert len(format_arcs(arcs[:30])) == 32


def test_long_names_and_sentences_are_cut_in_their_middle():
    name = "a_very_long_name_of_a_variable_in_a_survey"
    says = f"with {name}=1: P({name}=missing at random) is 0.90 where b0=1, 0.10 elsewhere"
    shares = {"strength": 0.5, "interval": [0.25, 0.75], "direction": 0.4, "reverse": 0.0}
    line, legend = format_arcs([make_arc(0, to=name, says=says, **shares)])[2:]
    assert line == (
        "  40.00  decisive  0.50 (0.25 to 0.75)  0.40  0.00  a -> "
        "a_very_lon...in_a_survey  with a_very_long_name_of_a_var"
        "iable_in_a_survey=1: P(...=missing at random) is 0.90 where b0=1, 0.10 elsewhere"
    )
    assert legend == (
        "  strength: share of the samples that join the two, with its 95 % interval; "
        "-> and <-: share of these that direct the edge so"
    )


def test_the_sign_of_an_arc_says_what_directs_it():
    by = ("data", "knowledge", None)
    lines = format_arcs([make_arc(i, directed_by=by[i], says=None) for i in range(3)])
    assert lines[0] == (
        "arcs        3: 3 decisive; the constraints direct 1 (=>); data alone cannot direct 1 (--)"
    )
    assert [line.split("  ")[-1] for line in lines[2:]] == ["a -> b0", "a => b1", "a -- b2"]


def test_the_shares_of_the_directions_have_columns():
    shares = {"strength": 0.9, "interval": [0.7, 1.0], "direction": 0.625, "reverse": 0.125}
    lines = format_arcs([make_arc(0, says=None, **shares)])
    assert lines[1:] == [
        "   gain                       strength    ->    <-  arc",
        "  40.00  decisive  0.90 (0.70 to 1.00)  0.62  0.12  a -> b0",
        "  strength: share of the samples that join the two, with its 95 % interval; -> and <-: "
        "share of these that direct the edge so",
    ]


def test_an_arc_that_says_nothing_and_no_arcs():
    lines = format_arcs([make_arc(0, says=None)])
    assert lines[2] == "  40.00  decisive  a -> b0"
    assert format_arcs([]) == ["arcs        0"]


def test_the_lines_of_the_quick_bootstrap():
    arcs = [make_arc(0, strength=1.0), make_arc(1, strength=0.5)]
    facts = {"n_bootstraps": 30, "not_in_network": []}
    answer = {"arcs": arcs, "quick_bootstrap": facts}
    first = (
        "bootstrap   30 samples by short searches: 1 of 2 arcs in more than half; "
        "--bootstraps 100 for the full one"
    )
    assert list(_format_quick_bootstrap(answer)) == [first]
    facts["not_in_network"] = [{"from": "a", "to": "c", "strength": 0.6}]
    assert list(_format_quick_bootstrap(answer)) == [
        first,
        "outside     a -> c (0.600): above the threshold, but not in the network",
    ]
