"""Numbers in the formats of many countries: what is written is what is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.data import read_data, read_incomplete
from coevo.data.prepare.number_formats import has_leading_zeros, parse_formatted_numbers
from coevo.errors import CoevoWarning, ParameterError
from helpers.errors import refusal
from helpers.known_rows import decode_rows

# decimal mark, thousands separator
LOCALES = {
    "english": (".", ","),
    "german": (",", "."),
    "french": (",", "\u202f"),
    "swedish": (",", "\u00a0"),
    "swiss": (".", "'"),
    "swiss typographic": (".", "\u2019"),
    "plain": (".", ""),
}
AFFIXES = [("", ""), ("$", ""), ("", " €"), ("CHF ", ""), ("", " USD"), ("£ ", ""), ("", "%")]


def write(number, locale, affixes=("", ""), minus="-"):
    """Write a number with two decimals in the format of a country."""
    mark, thousands = LOCALES[locale]
    text = f"{abs(number):,.2f}".replace(",", "_").replace(".", mark).replace("_", thousands)
    return f"{minus if number < 0 else ''}{affixes[0]}{text}{affixes[1]}"


def parse(labels):
    return parse_formatted_numbers(labels, range(len(labels)))


cents = st.integers(-(10**11), 10**11).map(lambda n: n / 100)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(cents, min_size=1, max_size=20),
    st.sampled_from(sorted(LOCALES)),
    st.sampled_from(AFFIXES),
    st.sampled_from(["-", "\u2212"]),
)
def test_what_is_written_is_read(numbers, locale, affixes, minus):
    found = parse([write(number, locale, affixes, minus) for number in numbers])
    mark = LOCALES[locale][0]
    assert found.numbers[mark].tolist() == numbers
    assert found.mark == mark  # two decimals leave no doubt


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("(1,234.50)", -1234.5), ("$(12)", None), ("($12)", -12), ("12-", -12), ("+7", 7),
        ("37 %", 37), ("-5%", -5), ("1e5", 1e5), (".5", 0.5), ("USD 5", 5), ("5 kg", None),
        ("1,23,456", None), ("1 23", None), ("12,34.5", None), ("00123", None), ("0", 0),
        ("2021-03", None), ("1.2.3", None), ("", None), ("-", None), ("$", None), ("e5", None),
        ("<0.1", 0.1), (">= 5", 5), ("≤3", 3), ("<", None),
    ],
)  # fmt: skip
def test_labels(label, number):
    found = parse([label])
    assert (found and found.numbers["."].tolist()) == (None if number is None else [number])


def test_a_column_has_one_decimal_mark():
    assert parse(["1,5", "1.5"]) is None
    assert list(parse(["1,5", "1.234"]).numbers) == [","]
    assert list(parse(["1.5", "1,234"]).numbers) == ["."]
    assert list(parse(["0,123"]).numbers) == [","]  # no group starts with a zero
    assert list(parse(["1,234,567", "1,234"]).numbers) == ["."]
    assert parse(["1,234"]).is_ambiguous
    assert parse(["1.234"]).is_ambiguous
    assert not parse(["1 234", "$7"]).is_ambiguous


def test_leading_zeros_are_codes():
    assert has_leading_zeros(["8000", "01067"])
    assert not has_leading_zeros(["0", "0.5", "-7", None])


def frame_of(labels):
    """Return a table whose first column has each label three times."""
    n, rng = 3 * len(labels), np.random.default_rng(1)
    return pd.DataFrame({"x": np.resize(labels, n), "y": rng.integers(0, 2, n).astype(str),
                         "z": rng.choice(["a", "b", "c"], n)})  # fmt: skip


def decide(frame, **options):
    """Return what is decided about a table, without the option that undoes it."""
    return [
        decision.sentence
        for decision in read_incomplete(
            frame, discretise="quantile", bins=2, return_info=True, **options
        )[1].decisions
    ]


def states(frame, name="x", **options):
    _, info = read_incomplete(frame, discretise="quantile", bins=2, return_info=True, **options)
    return next(column for column in info.columns if column.name == name).states


def test_amounts():
    frame = frame_of([f"${i * 37.5:,.2f}" for i in range(60)])
    assert decide(frame) == ["'x' holds amounts like '$2,212.50'; they are read as numbers."]
    assert states(frame) == ("below_1100", "from_1100")
    as_text = states(frame, types={"x": "categorical"})
    assert len(as_text) == 60
    assert read_data(frame, discretise="mdl", types={"x": "continuous"}, strict=True).n_rows == 180


def test_columns_of_one_format_are_one_decision():
    labels = [f"{i / 7:.3f}".replace(".", ",") for i in range(60)]
    frame = frame_of(labels).assign(w=np.resize([*labels[::-1], "9,5"], 180))
    assert decide(frame) == [
        "'x', 'w' hold numbers like '8,429'; they are read as numbers with a decimal comma."
    ]


def test_few_amounts_are_states():
    assert decide(frame_of(["5%", "10%", "20%"])) == []
    assert set(states(frame_of(["5%", "10%", "20%"]))) == {"5%", "10%", "20%"}


def test_the_comma_of_an_ambiguous_column():
    frame = frame_of([f"{i + 1},{i:03}" for i in range(50)])
    guess = "'x' holds numbers like '50,049'; they are read as numbers, and the comma separates "
    assert decide(frame) == [f"{guess}thousands, which is a guess."]
    assert states(frame) == ("below_26000", "from_26000")
    assert states(frame, decimal=",") == ("below_26", "from_26")
    assert decide(frame, decimal=".") == [f"{guess}thousands."]
    german = frame.assign(w=np.resize([f"{i},5" for i in range(40)], 150))
    assert states(german) == ("below_26", "from_26")  # the other column decides
    assert refusal(ParameterError, read_data, frame, decimal=";") == (
        "'decimal' of read_data must be '.', ',' or None; got ';'."
    )


def test_the_point_separates_thousands_beside_decimal_commas():
    frame = frame_of([f"{i + 1}.{i:03}" for i in range(50)])
    assert states(frame) == ("below_26", "from_26")
    assert decide(frame) == []
    german = frame.assign(w=np.resize([f"{i},5" for i in range(40)], 150))
    assert states(german) == ("below_26000", "from_26000")
    assert decide(german) == [
        "'x' holds numbers like '50.049'; they are read as numbers, and the point separates "
        "thousands.",
        "'w' holds numbers like '39,5'; they are read as numbers with a decimal comma.",
    ]


@pytest.mark.filterwarnings("ignore:Column 'x' is")
def test_a_later_table_keeps_the_decimal_mark():
    """The info of a run says which mark it used, so that a column alone is read alike."""
    german = frame_of([f"{i + 1},{i:03}" for i in range(50)]).assign(
        w=np.resize([f"{i},5" for i in range(40)], 150)
    )
    _, info = read_data(german, discretise="mdl", return_info=True)
    types = {column.name: column.as_dict() for column in info.columns}
    assert types["x"]["format"] == ","
    later = german.head(9).drop(columns="w")
    del types["w"]
    found, again = read_data(later, types=types, return_info=True)
    assert [column.states for column in again.columns] == [
        column.states for column in info.columns if column.name != "w"
    ]
    assert again.decisions == ()
    assert found.n_rows == 9


def test_words_among_numbers_are_missing_values():
    labels = [str(i) for i in range(60)]
    assert decide(frame_of([*labels, "-"])) == [
        "'-' in 'x' stands for a missing value (3 rows, the first is 61): the other values "
        "are numbers."
    ]
    assert decide(frame_of([*labels, "unknown", "None"])) == [
        "'None', 'unknown' in 'x' stand for missing values (6 rows, the first is 61): the other "
        "values are numbers."
    ]
    assert decide(frame_of([*labels, "high"])) == [
        "'high' in 'x' stands for a missing value (3 rows, the first is 61): the other values are "
        "numbers."
    ]
    assert decide(frame_of([*labels[:9], "high"] * 6)) == []  # few numbers: text can be a state
    assert decide(frame_of(["1", "2", "unknown"])) == []  # unknown is one of three states
    assert decide(frame_of(["1", "2", "3", "-"]))[0].startswith("'-' in 'x' stands for")
    assert decide(frame_of([*labels, "unknown"]), keep_labels=["unknown"]) == []
    table = read_data(frame_of([*labels, "-"]), discretise="mdl", types={"x": "categorical"})
    assert table.n_rows == 183


def test_limits_of_measurement():
    assert decide(frame_of([*(f"{i / 10}" for i in range(1, 60)), "<0.1"])) == [
        "'x' holds limits of measurement like '<0.1'; they are read as numbers."
    ]


def test_numbers_and_other_text():
    frame = frame_of([str(i) for i in range(60)])
    frame["x"] = [f"{i}" for i in range(180)]
    frame.loc[::9, "x"] = "too high"
    assert decide(frame) == [
        "'x' holds numbers and other text like 'too high', 161 different values in 180 rows; it is "
        "left out."
    ]


def test_infinite_numbers_are_missing_values():
    assert decide(frame_of([*(f"{i}.5" for i in range(60)), "inf"])) == [
        "'inf' in 'x' stands for a missing value (3 rows, the first is 61): it is not a finite "
        "number."
    ]


def test_codes_with_leading_zeros_are_text():
    frame = frame_of([f"{i:05}" for i in range(1000, 1030)])
    assert decide(frame) == []
    assert len(states(frame)) == 30


def test_a_network_reads_the_numbers_of_a_later_table():
    from coevo import DAG
    from coevo.network import fit_network, read_rows

    frame = frame_of([f"${i * 37.5:,.2f}" for i in range(60)])
    with pytest.warns(CoevoWarning, match="'x' holds amounts like"):
        dataset = read_data(frame, discretise="mdl")
    network = fit_network(DAG(["x", "y", "z"], [("x", "y")]), dataset)
    rows = read_rows(network, frame)
    assert decode_rows(rows) == decode_rows(read_rows(network, dataset.expand()))
    with pytest.warns(CoevoWarning, match="which is a guess"):
        read_rows(network, frame.assign(x=[f"{1 + i % 9},{i + 100}" for i in range(180)]))
