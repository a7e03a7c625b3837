"""The time of every parser grows with the size of its input, not with the square of it.

Each input below took minutes in an earlier version, or would with an obvious pattern. The CPU time
of an input that is four times as long must be less than twelve times as long: a linear parser needs
four times, a quadratic one sixteen times. A constant absorbs what is too short to measure.
"""

from __future__ import annotations

import time
import warnings

import pytest

from coevo.data.labels import find_decimal, parse_numbers
from coevo.data.prepare.dates import parse_dates
from coevo.data.prepare.number_formats import parse_formatted_numbers
from coevo.errors import CoevoError
from coevo.io import parse_model

BIF = "variable a {{ type discrete [ 2 ] {{ x, y }}; }} probability ( a ) {{ table {}; }}"
NET = 'net {{ }} node a {{ states = ("x" "y"); }} potential (a) {{ data = ({}); }}'
XMLBIF = (
    "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    "<DEFINITION><FOR>a</FOR><TABLE>{}</TABLE></DEFINITION></NETWORK></BIF>"
)


def cycle(n):
    """Return the lines of a cycle of `n` arcs."""
    return "".join(f"v{i},v{(i + 1) % n}\n" for i in range(n))


# Each makes an input of a size: the format and a text.
MODELS = {
    "BIF, digits": lambda n: ("bif", BIF.format("1" * n + "x")),
    "BIF, open strings": lambda n: ("bif", '// \n"' + '\\"' * n),
    "BIF, properties": lambda n: ("bif", 'network a { property "' + '; property \\"' * n + "; }"),
    "NET, digits": lambda n: ("net", NET.format("1" * n + "x")),
    "NET, symbols": lambda n: ("net", "net { } node a { states = (" + "=" * n + "); }"),
    "NET, open strings": lambda n: ("net", '% \n"' + '\\"' * n),
    "XMLBIF, digits": lambda n: ("xmlbif", XMLBIF.format("1" * n + "x")),
    "DOT, chain": lambda n: ("dot", "digraph { " + "->".join(f"v{i}" for i in range(n)) + " }"),
    "DOT, cycle": lambda n: ("dot", "digraph { " + "->".join(f"v{i}" for i in range(n)) + "->v0 }"),
    "DOT, open strings": lambda n: ("dot", 'digraph { // \n"' + '\\"' * n),
    "edges, cycle": lambda n: ("edges", "from,to\n" + cycle(n)),
    "model string, cycle": lambda n: (
        "modelstring",
        "".join(f"[v{i}|v{(i + 1) % n}]" for i in range(n)),
    ),
    "JSON, repeated field": lambda n: (
        "json",
        "{" + ",".join(f'"{i}": 0' for i in range(n)) + f', "{n - 1}": 0}}',
    ),
}
SIZES = {"DOT, chain": 10_000, "NET, symbols": 30_000}  # what is copied is fast
LABELS = {
    "digits": lambda n: "9" * n + "x",
    "digits and zeros": lambda n: "1." + "0" * n + "x",
    "spaces": lambda n: "x" + " " * n + "y",
    "per cent": lambda n: "1" + " " * n + "%" + " " * n + "x",
    "time": lambda n: "2020-01-01 10:10" + " " * n + "x",
    "quarter": lambda n: "2020" + " " * n + "x",
}


def measure(work):
    """Return the CPU time of a function, and its error if there is one."""
    began = time.process_time()
    message = ""
    try:
        work()
    except CoevoError as error:
        message = str(error)
    return time.process_time() - began, message


def assert_linear(make_work, n):
    measure(make_work(100))  # compiles the patterns
    short = min(measure(make_work(n))[0] for _ in range(2))
    long, message = min(measure(make_work(4 * n)) for _ in range(2))
    assert long < 12 * short + 0.2
    assert len(message) < 1000


@pytest.mark.parametrize("case", MODELS)
def test_growth_of_models(case):
    def make_work(n):
        kind, text = MODELS[case](n)
        return lambda: parse_model(text, kind)

    assert_linear(make_work, SIZES.get(case, 6000))


@pytest.mark.parametrize("case", LABELS)
def test_growth_of_labels(case):
    def make_work(n):
        labels = [LABELS[case](n)]

        def work():
            parse_numbers(labels)
            find_decimal(labels)
            parse_formatted_numbers(labels, range(1))
            parse_dates(labels, range(1))

        return work

    assert_linear(make_work, 4000)


def test_a_long_cycle_has_a_short_message():
    with pytest.raises(CoevoError) as caught:
        parse_model("from,to\n" + cycle(40_000), "edges", "a.csv")
    assert str(caught.value) == (
        "a.csv, line 2: the arcs contain a cycle: 'v0' -> 'v1' -> 'v2' -> 'v3' -> 'v4' -> 'v5' -> "
        "'v6' -> 'v7' -> ... -> 'v0' (40,000 variables)."
    )


def test_the_new_patterns_read_what_the_old_ones_read():
    numbers = ["1", "1.", ".5", "-1.5e3", "+2E-1", "1e5", "1.e5", "0.5"]
    assert parse_numbers(numbers).tolist() == list(map(float, numbers))
    for text in (".", "1e", "e5", "1..2", "1.5.", "+", "--1", "1 2"):
        assert parse_numbers([text]) is None or text == "."  # a point is a missing value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network = parse_model(BIF.format("0.25, 7.5e-1"), "bif")
    assert network.table("a").tolist() == [[0.25, 0.75]]
    spaced = ["2020-01-01 10:10:00 PM", "2020-01-02 1:00 am UTC", "2020-01-03T10:10Z"]
    assert len(parse_dates(spaced, range(3)).values) == 3
    assert parse_dates(["2020 - Q1", "2021Q4", "2020-Q2"], range(3)).parts == ("year", "month")
    assert parse_formatted_numbers(["12 %", "7%"], range(2)).style == "percentage"
    assert parse_formatted_numbers(["EUR 12", "7 EUR"], range(2)).style == "amount"
