"""Lists with commas of columns to leave out; a column whose name has commas has precedence."""

import pandas as pd
import pytest

import coevo
from coevo.data import read_data, read_incomplete
from coevo.errors import DataError

FRAME = pd.DataFrame({name: list("xyxyxxyy") for name in ("a", "b", "c", "d", "b,c", "e")})


@pytest.mark.parametrize(
    ("drop", "kept"),
    [
        (["a,b"], {"c", "d", "b,c", "e"}),
        (["b,c"], {"a", "b", "c", "d", "e"}),  # the column of this name
        (["a,b,c"], {"b", "c", "d", "e"}),  # a, and the column 'b,c'
        (["b", "c,a"], {"d", "b,c", "e"}),
        (["a, e"], {"b", "c", "d", "b,c"}),
    ],
)
def test_lists(drop, kept, tmp_path):
    path = tmp_path / "table.csv"
    FRAME.to_csv(path, index=False)
    for table in (FRAME, path):
        assert set(read_data(table, drop=drop).names) == kept
        assert set(read_incomplete(table, drop=drop).names) == kept


def test_the_infos_name_the_columns():
    _, info = read_data(FRAME, drop=["a,e"], return_info=True)
    assert {c.name for c in info.columns if c.type == "ignore"} == {"a", "e"}


def test_an_unknown_name_of_a_list():
    with pytest.raises(DataError) as caught:
        read_data(FRAME, drop=["a,f"])
    assert str(caught.value) == "'drop' names 'f', which is not a column of the table."


def test_the_options_serve_two_tables():
    """A list of one table may be a column of another one."""
    other = FRAME.rename(columns={"e": "a,b"})
    for table in (FRAME, other, FRAME):
        names = set(coevo.learn(table, method="k2", bootstraps=0, read={"drop": ["a,b"]}).dag.nodes)
        assert names == set(table.columns) - ({"a,b"} if table is other else {"a", "b"})
