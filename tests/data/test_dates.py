"""Dates and times in many forms, and the parts that replace them."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo import DAG
from coevo.data import read_data, read_incomplete
from coevo.data.prepare.dates import parse_dates
from coevo.errors import CoevoWarning, DataError
from coevo.network import fit_network, read_rows
from helpers.errors import refusal
from helpers.known_rows import decode_rows

FORMS = [
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%b %d, %Y", "%B %d %Y",
    "%d %B %Y", "%d-%b-%Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S+01:00", "%d/%m/%Y %H:%M", "%Y%m%d", "%A, %d %B %Y",
]  # fmt: skip
moments = st.datetimes(datetime.datetime(1901, 1, 1), datetime.datetime(2099, 12, 31))


def parse(labels, order=""):
    return parse_dates(labels, range(len(labels)), order)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(moments, min_size=1, max_size=9, unique_by=lambda m: m.date()), st.sampled_from(FORMS)
)
def test_what_is_written_is_read(moments, form):
    fixed = [datetime.datetime(2001, 5, 20), datetime.datetime(2002, 6, 25)]  # no doubt about order
    given_moments = [*fixed, *moments, datetime.datetime(1999, 12, 31)]
    found = parse([moment.strftime(form) for moment in given_moments])
    keeps_time = "%H" in form
    kept = [m.replace(microsecond=0) if keeps_time else m for m in given_moments]
    assert [v.date() for v in found.values.values()] == [m.date() for m in kept]
    if keeps_time:
        assert [v.hour for v in found.values.values()] == [m.hour for m in kept]
    assert not found.is_ambiguous
    assert found.has_time == keeps_time


@pytest.mark.parametrize(
    ("label", "parts", "values"),
    [
        ("2021-03", "year month", ["2021", "3"]),
        ("03/2021", "year month", ["2021", "3"]),
        ("Mar 2021", "year month", ["2021", "3"]),
        ("2021Q3", "year month", ["2021", "7"]),
        ("2021-Q4", "year month", ["2021", "10"]),
        ("14:30", "hour", ["14"]),
        ("2:30 pm", "hour", ["14"]),
        ("12:05:09 AM", "hour", ["0"]),
        ("05-Mar-69", "year month weekday", ["1969", "3", "Wed"]),
        ("05-Mar-21", "year month weekday", ["2021", "3", "Fri"]),
    ],
)
def test_other_forms(label, parts, values):
    found = parse([label])
    assert found.parts == tuple(parts.split())
    assert [found.take_part(part)[0] for part in found.parts] == values


@pytest.mark.parametrize(
    "label", ["2021-02-30", "2021-13-01", "12", "1.2", "1.2.3", "Mon", "25:00", "12:60", "x", "",
              "20219999", "0005-01-01", "March", "5 kg", "3/4"]
)  # fmt: skip
def test_labels_that_are_not_dates(label):
    assert parse([label] * 3) is None
    assert parse(["2021-03-05", label]) is None


def test_the_order_of_day_and_month():
    assert parse(["03/04/2021", "13/04/2021"]).order == "dmy"
    assert parse(["03/04/2021", "04/13/2021"]).order == "mdy"
    assert parse(["13/04/2021", "04/13/2021"]) is None
    slashes, points = parse(["03/04/2021"]), parse(["03.04.2021"])
    assert (slashes.order, points.order) == ("mdy", "dmy")
    assert slashes.is_ambiguous
    assert points.is_ambiguous
    assert not parse(["03/03/2021"]).is_ambiguous  # both orders give the same date
    assert not parse(["03/04/2021"], "dmy").is_ambiguous


def test_dates_as_numbers():
    numbers = parse(["2021-01-01", "2020-07-02", "2020-07-02 12:00"]).as_numbers(3)
    assert numbers.tolist() == [2021.0, 2020.5, 2020.501366]
    assert parse(["14:30"]).as_numbers(1).tolist() == [14.5]


# -- columns


def make_frame(seed, form="%Y-%m-%d", n=200, days=900):
    rng = np.random.default_rng(seed)
    start = datetime.datetime(2019, 1, 1)
    moments = [start + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 24 * days, n)]
    return pd.DataFrame(
        {
            "visit": [moment.strftime(form) for moment in moments],
            "summer": ["yes" if 4 <= moment.month <= 9 else "no" for moment in moments],
            "y": rng.choice(["a", "b"], n),
        }
    )


def read(frame, **options):
    dataset, info = read_data(frame, discretise="mdl", return_info=True, **options)
    return dataset, info, {column.name: column for column in info.columns}


@pytest.fixture
def frame(seed):
    return make_frame(seed)


def test_the_undo_of_a_copy_names_a_column_of_the_table(frame):
    """A table has no column of the name of a part, so its type cannot be declared."""
    frame["Month"] = [int(text[5:7]) for text in frame["visit"]]
    _, info, columns = read(frame)
    assert columns["visit_month"].type == "ignore"
    copy = next(decision for decision in info.decisions if decision.kind == "copy")
    assert copy.columns == ("visit_month", "Month")
    assert copy.undo == "types={'Month': 'categorical'}, or --type Month=categorical"
    _, _, columns = read(frame, types={"Month": "categorical"})
    assert columns["visit_month"].type == columns["Month"].type == "categorical"
    _, info, _ = read(frame[["visit", "y"]].assign(again=frame["visit"] + " 00:00"))
    assert {one.undo for one in info.decisions if one.kind == "copy"} == {
        "strict=True, or --strict"
    }


def test_dates_are_replaced_by_their_parts(frame):
    dataset, info, columns = read(frame)
    names = [variable.name for variable in dataset.source_variables]
    assert names == ["visit_year", "visit_month", "summer", "y"]
    assert columns["visit_year"].states == ("2019", "2020", "2021")
    assert columns["visit_month"].source == "visit"
    assert columns["visit"].type == "year+month"
    first, last = min(frame["visit"]), max(frame["visit"])
    assert [str(decision) for decision in info.decisions] == [
        f"'visit' holds dates from {first} to {last}; it is replaced by 'visit_year' and "
        "'visit_month'. Undo: types={'visit': 'ignore'}, or --type visit=ignore; other types are "
        "'year', 'month', 'weekday', 'hour', 'date' (a number) or 'categorical'."
    ]
    codes = dataset.codes[dataset.find_position("visit_month")]
    states = dataset.variables[dataset.find_position("visit_month")].states
    assert [states[c] for c in codes] == [str(int(text[5:7])) for text in frame["visit"]]


@pytest.mark.parametrize(
    ("type_", "names"),
    [
        ("month", ["visit_month"]),
        ("weekday", ["visit_weekday"]),
        ("year+weekday", ["visit_year", "visit_weekday"]),
        ("ignore", []),
        ("date", ["visit"]),
        ("continuous", ["visit"]),
        ([2020.5], ["visit"]),
    ],
)
def test_types_of_dates(frame, type_, names):
    dataset, info, _ = read(frame, types={"visit": type_}, strict=True)
    found = [variable.name for variable in dataset.source_variables]
    assert found == [*names, "summer", "y"]
    assert info.decisions == ()


def test_a_date_as_a_number(frame):
    _, _, columns = read(frame, types={"visit": [2020.5]})
    assert columns["visit"].holds == "dates"
    assert columns["visit"].states == ("below_2020.5", "from_2020.5")


def test_a_type_that_needs_dates(frame):
    assert refusal(DataError, read_data, frame, types={"y": "month"}).startswith(
        "Column 'y' has the type 'month', but does not hold dates that coevo knows; its first "
        f"value is {frame['y'][0]!r}. Write dates like 2021-03-05, or remove the type."
    )


def test_hours(seed):
    dataset, _, columns = read(make_frame(seed, "%d.%m.%Y %H:%M"))
    assert "visit_hour" in dataset.names
    assert columns["visit_hour"].type == "continuous"


def test_an_order_that_is_not_clear(seed):
    frame = make_frame(seed)
    frame["visit"] = [f"{1 + i % 12:02}/{1 + i % 11:02}/{2019 + i % 3}" for i in range(200)]
    _, info, _ = read(frame)
    assert [(decision.kind, str(decision)) for decision in info.decisions] == [
        (
            "date_order",
            "'visit' holds dates from 2019-01-01 to 2021-12-11; it is replaced by 'visit_year' and "
            "'visit_month'. The month is read before the day. Undo: types={'visit': 'dmy'}, or "
            "--type visit=dmy.",
        )
    ]
    _, info, columns = read(frame, types={"visit": "dmy"})
    assert "The month" not in info.decisions[0].sentence
    assert columns["visit_month"].states[-1] == "11"
    other = frame.assign(w=[f"{20 + i % 8}/0{1 + i % 9}/2020" for i in range(200)])
    _, _, columns = read(other)  # the other column decides
    assert columns["visit_month"].states[-1] == "11"


def test_dates_whose_parts_do_not_recur():
    frame = pd.DataFrame(
        {
            "t": [f"{1900 + i}-01-01" for i in range(60)],
            "x": ["a", "b"] * 30,
            "y": ["c", "d", "d"] * 20,
        }
    )
    _, info, columns = read(frame)
    assert info.decisions[0].sentence == (
        "'t' holds dates from 1900-01-01 to 1959-01-01; its parts do not recur, and it is left out."
    )
    assert columns["t"].type == "ignore"


def test_few_dates_that_recur_are_states():
    waves = ["2019-05-01", "2019-05-08", "2019-05-15"] * 20
    frame = pd.DataFrame({"wave": waves, "x": ["a", "b"] * 30})
    dataset, info, _ = read(frame)
    assert info.decisions == ()
    assert dataset.source_variables[0].states == tuple(sorted(set(waves)))


def test_missing_dates(frame):
    frame.loc[::10, "visit"] = None
    table, info = read_incomplete(frame, discretise="mdl", return_info=True)
    assert table.missing_counts == {"summer": 0, "visit_month": 20, "visit_year": 20, "y": 0}
    assert [decision.kind for decision in info.decisions] == ["date"]


def test_a_network_takes_the_part_of_a_later_table(frame, seed):
    dataset, _, _ = read(frame)
    names = [variable.name for variable in dataset.source_variables]
    network = fit_network(DAG(names, [("visit_month", "summer")]), dataset)
    rows = read_rows(network, frame)
    assert decode_rows(rows) == decode_rows(read_rows(network, dataset.expand()))
    assert list(read_rows(network, frame[["visit", "summer"]], only=["visit_month"]).codes) == [
        "visit_month"
    ]
    later = make_frame(seed + 1, n=30)
    assert read_rows(network, later).n_rows == 30
    renamed = later.rename(columns={"visit": "other"})
    assert sorted(read_rows(network, renamed).codes) == ["summer", "y"]
    with pytest.warns(CoevoWarning, match="The month is read before the day"):
        read_rows(network, later.assign(visit="01/02/2020"))


def test_the_types_of_a_run_read_a_table_in_the_same_way(frame):
    dataset, info, _ = read(frame)
    types = json.loads(json.dumps({column.name: column.as_dict() for column in info.columns}))
    again, found, _ = read(frame, types=types)
    assert again == dataset
    assert found.decisions == ()
    half, _, _ = read(frame.head(100), types=types)
    assert half.variables == dataset.variables
