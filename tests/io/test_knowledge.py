"""Prior knowledge: JSON and CSV mean the same, and each error message names the place."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.errors import CoevoError, FormatError, GraphError, ParameterError
from coevo.graph import Constraints
from coevo.io import Knowledge, open_knowledge, read_knowledge, write_knowledge
from helpers.errors import refusal

NAMES = ["age", "crp", "ill", "sex", "smoker", "wbc"]
JSON = {
    "groups": {"labs": ["crp", "wbc"]},
    "tiers": [["age", "sex"], "labs", ["ill"]],
    "required": [["age", "ill"], {"from": "labs", "to": "ill"}],
    "forbidden": [["labs", "smoker"]],
    "roots": ["age", "sex"],
    "leaves": ["ill"],
    "max_parents": 4,
    "weights": [["smoker", "labs", 2.5], {"from": "sex", "to": "smoker", "weight": -1}],
}
CSV = """kind,from,to,weight
group,labs,crp
group, labs, wbc
tier,1,age
tier,1,sex
tier,2,labs
tier,10,ill

required,age,ill,
required,labs,ill
forbidden,labs,smoker
root,age
root,sex
leaf,ill
max_parents,4
weight,smoker,labs,2.5
weight,sex,smoker,-1
"""
EXPECTED = Knowledge(
    Constraints(
        max_parents=4,
        tiers=[["age", "sex"], ["crp", "wbc"], ["ill"]],
        required=[("age", "ill"), ("crp", "ill"), ("wbc", "ill")],
        forbidden=[("crp", "smoker"), ("wbc", "smoker")],
        roots=["age", "sex"],
        leaves=["ill"],
    ),
    {("smoker", "crp"): 2.5, ("smoker", "wbc"): 2.5, ("sex", "smoker"): -1.0},
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(content, name="known.json"):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text)
        return name

    return call


def test_json_and_csv_mean_the_same(write):
    for path in (write(JSON), write(CSV, "known.csv"), write(JSON, "known")):
        assert read_knowledge(path, NAMES) == EXPECTED
        assert read_knowledge(path) == EXPECTED
    EXPECTED.constraints.to_rules(NAMES)


def test_a_group_has_no_arcs_to_itself(write):
    path = write({"groups": {"labs": ["crp", "wbc"]}, "forbidden": [["labs", "labs"]]})
    assert read_knowledge(path).constraints.forbidden == (("crp", "wbc"), ("wbc", "crp"))


def test_empty_files(write):
    assert read_knowledge(write({})) == Knowledge()
    assert read_knowledge(write("kind,from\n", "known.csv")) == Knowledge()


ARCS = [(a, b) for a in NAMES for b in NAMES if a != b]
some_arcs = st.lists(st.sampled_from(ARCS), max_size=5)
some_names = st.lists(st.sampled_from(NAMES), max_size=3)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    some_arcs,
    some_arcs,
    st.lists(some_names, max_size=3),
    some_names,
    some_names,
    st.none() | st.integers(1, 5),
    st.dictionaries(st.sampled_from(ARCS), st.floats(-9, 9), max_size=3),
)
def test_write_and_read_back(
    tmp_path_factory, required, forbidden, tiers, roots, leaves, max_parents, weights
):
    known = Knowledge(
        Constraints(
            max_parents=max_parents,
            required=required,
            forbidden=forbidden,
            tiers=tiers,
            roots=roots,
            leaves=leaves,
        ),
        {arc: weight for arc, weight in weights.items() if arc not in forbidden},
    )
    path = tmp_path_factory.mktemp("k") / "known.json"
    write_knowledge(known, path)
    assert read_knowledge(path, NAMES) == known
    write_knowledge(known.constraints, path)
    assert read_knowledge(path) == Knowledge(known.constraints)
    assert hash(read_knowledge(path).constraints) == hash(known.constraints)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "'known.json' must hold a JSON object with some of the keys required, forbidden, "
         "weights, roots, leaves, groups, tiers, max_parents."),
        ({"require": []}, "'known.json' has an unknown key 'require'. The keys are required, "
         "forbidden, weights, roots, leaves, groups, tiers, max_parents. Did you mean 'required'?"),
        ({"required": {"a": "b"}}, "'required' of 'known.json' must be a list; got {'a': 'b'}."),
        ({"groups": [["a"]]}, "'groups' of 'known.json' must be an object of lists; got [['a']]."),
        ({"required": [["a", "b"], ["a"]]}, "'known.json', 'required', entry 2 must be "
         "[\"a\", \"b\"]; got ['a']."),
        ({"required": [["a", "b", 1]]}, "'known.json', 'required', entry 1 must be "
         "[\"a\", \"b\"]; got ['a', 'b', 1]."),
        ({"forbidden": [{"from": "a", "too": "b"}]}, "'known.json', 'forbidden', entry 1 must be "
         "[\"a\", \"b\"]; got {'from': 'a', 'too': 'b'}."),
        ({"weights": [["a", "b"]]}, "'known.json', 'weights', entry 1 must be "
         "[\"a\", \"b\", 1.5]; got ['a', 'b']."),
        ({"weights": [["a", "b", "much"]]}, "'known.json', 'weights', entry 1: the weight must be "
         "a number; got 'much'."),
        ({"roots": [["a"]]}, "'known.json', 'roots', entry 1 must be a name; got ['a']."),
        ({"tiers": [["a"], 2]}, "'known.json', 'tiers', entry 2 must be a list of names; got 2."),
        ({"groups": {"g": [1]}}, "'known.json', 'groups', entry 'g' must be a list of names; "
         "got [1]."),
        ({"max_parents": 0}, "'max_parents' of 'known.json' must be a whole number of 1 or more; "
         "got 0."),
        ("kind,from,to\nrequire,a,b\n", "'known.csv', line 2: the kind must be one of required, "
         "forbidden, weight, root, leaf, group, tier, max_parents; got 'require'. "
         "Did you mean 'required'?"),
        ("kind,from,to\n\nrequired,a\n", "'known.csv', line 3: required needs 'from' and 'to'."),
        ("kind,from,to\nroot,a,b\n", "'known.csv', line 2: root needs 'from' only."),
        ("kind,from,to,weight\nrequired,a,b,1\n", "'known.csv', line 2: an entry of the kind "
         "weight needs a weight; other entries must have none."),
        ("kind,from,to,weight\nweight,a,b,\n", "'known.csv', line 2: an entry of the kind "
         "weight needs a weight; other entries must have none."),
        ("kind,from,to,weight\nweight,a,b,inf\n", "'known.csv', line 2: the weight must be a "
         "number; got 'inf'."),
        ("kind,from,to\ntier,first,a\n", "'known.csv', line 2: the tier must be a whole number of "
         "0 or more; got 'first'."),
        ("kind,from\nmax_parents,0\n", "'known.csv', line 2: the limit must be a whole number of "
         "1 or more; got '0'."),
        ("from,to\na,b\n", "'known.csv' has no column 'kind'. Its first line must be "
         "kind,from,to,weight, or the start of it."),
    ],
)  # fmt: skip
def test_malformed_files(content, message, write):
    path = write(content, "known.csv" if isinstance(content, str) else "known.json")
    assert refusal(FormatError, open_knowledge, path) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("kind,from,to\nrequired,age,il\n", "'known.csv', line 2: there is no variable 'il'. "
         "Did you mean 'ill'?"),
        ("kind,from,to\ngroup,labs,crp\nforbidden,lab,ill\n", "'known.csv', line 3: there is no "
         "variable or group 'lab'. Did you mean 'labs'?"),
        ("kind,from,to\ngroup,labs,crpp\n", "'known.csv', line 2: there is no variable 'crpp'. "
         "Did you mean 'crp'?"),
        ("kind,from,to\ngroup,age,crp\n", "'known.csv', line 2: the group 'age' has the name of a "
         "variable. Rename it."),
        ({"roots": ["agee"]}, "'known.json', 'roots', entry 1: there is no variable 'agee'. "
         "Did you mean 'age'?"),
        ({"weights": [["age", "ill", 1], ["age", "ill", 2]]}, "'known.json', 'weights', entry 2: "
         "'age' -> 'ill' already has the weight 1. Remove one of the two."),
        ({"weights": [["age", "ill", 1]], "forbidden": [["age", "ill"]]},
         "'age' -> 'ill' has a weight and is forbidden. Remove one of the two."),
    ],
)  # fmt: skip
def test_invalid_names(content, message, write):
    path = write(content, "known.csv" if isinstance(content, str) else "known.json")
    assert refusal(GraphError, read_knowledge, path, NAMES) == message


def test_other_errors(tmp_path):
    assert refusal(ParameterError, write_knowledge, {}, tmp_path / "k.json") == (
        "'knowledge' of write_knowledge must be Knowledge or Constraints; got {}."
    )
    assert refusal(CoevoError, read_knowledge, tmp_path / "no.csv") == (
        f"There is no file {str(tmp_path / 'no.csv')!r}."
    )
