"""`inspect_table` and `learn` read the same table in the same way, however dirty it is."""

import warnings

import pytest

import coevo
from coevo.errors import CoevoWarning
from coevo.learning import check_settings, open_task
from helpers.dirty_tables import draw_survey, iter_text_tables, write_binary_tables

SURVEY = draw_survey(120)
TEXTS = {name: content for name, content, _ in iter_text_tables(SURVEY)}


def compare(path, **options):
    """Check that decisions, columns, findings and rows of both are the same."""
    inspected = coevo.inspect_table(path, **options)
    with (
        warnings.catch_warnings(action="ignore", category=CoevoWarning),
        open_task(check_settings("learn", **options), path) as task,
    ):
        assert inspected.decisions == task.info.decisions
        columns = {column.name: column.info for column in inspected.columns}
        assert columns == {column.name: column for column in task.info.columns}
        assert {f.sentence for f in inspected.findings} == {f.sentence for f in task.audit}
        table = task.dataset if task.incomplete is None else task.incomplete
        assert inspected.data_hash == table.content_hash


@pytest.mark.parametrize("name", TEXTS)
def test_text_tables(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(TEXTS[name])
    compare(str(path))


def test_other_tables(tmp_path):
    for path in write_binary_tables(SURVEY, tmp_path):
        compare(str(path))


def test_bins_types_and_columns_that_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXTS["clean.csv"])
    compare(str(path), bins=3, drop=["city"])
    compare(str(path), types={"visits": "continuous", "seen": "year"}, discretise="uniform")
