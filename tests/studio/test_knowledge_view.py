"""Prior knowledge: contradictions are found where they are made, and nothing wrong is stored."""

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations, product

import numpy as np
import pytest

from coevo.errors import GraphError
from coevo.io import read_knowledge
from coevo.studio.records import (
    StaleKnowledgeError,
    compute_version,
    find_contradictions,
    parse_knowledge,
    store_knowledge,
)

NAMES = list("abcd")
TABLE = "\n".join(map(",".join, [NAMES, *[*product("xy", repeat=4)] * 5]))


@pytest.fixture
def table(client):
    """Return the address of the knowledge about a table of four variables."""
    name = client.post("/api/upload/tables?file=four.csv", content=TABLE.encode()).json()["name"]
    return f"/api/tables/{name}/knowledge"


@pytest.mark.parametrize(
    ("content", "sentence", "arcs"),
    [
        (
            {"required": [["a", "b"], ["b", "c"], ["c", "a"], ["c", "d"]]},
            "The required arcs contain a cycle: 'a' -> 'b' -> 'c' -> 'a'.",
            [["a", "b"], ["b", "c"], ["c", "a"]],
        ),
        (
            {"required": [["a", "b"]], "forbidden": [["a", "b"]]},
            "'a' -> 'b' is required and forbidden.",
            [["a", "b"]],
        ),
        (
            {"required": [["a", "b"], ["c", "d"]], "tiers": [["b"], ["a"]]},
            "'a' -> 'b' is required, but 'a' is in a later tier than 'b'.",
            [["a", "b"]],
        ),
        (
            {"required": [["a", "b"]], "roots": ["b"]},
            "'a' -> 'b' is required, but 'b' is a root.",
            [["a", "b"]],
        ),
        (
            {"required": [["a", "b"]], "leaves": ["a"]},
            "'a' -> 'b' is required, but 'a' is a leaf.",
            [["a", "b"]],
        ),
        (
            {"required": [["a", "b"], ["c", "b"]], "max_parents": 1},
            "'b' has 2 required parents ('a', 'c'), but the limit is 1 parent.",
            [["a", "b"], ["c", "b"]],
        ),
        ({"tiers": [["a"], ["b", "a"]]}, "'a' is in two tiers. Leave it in one.", []),
        (
            {"required": [["a", "a"]]},
            "The arc 'a' -> 'a' is required, but it is a loop.",
            [["a", "a"]],
        ),
        (
            {"forbidden": [["a", "zzz"]]},
            "'zzz' is not a variable of the table. Remove it from the knowledge, or use the "
            "column.",
            [["a", "zzz"]],
        ),
    ],
)
def test_a_contradiction_is_one_sentence_and_is_not_stored(client, table, content, sentence, arcs):
    client.put(table, json={"required": [["a", "d"]]})
    answer = client.put(table, json=content)
    assert answer.status_code == 409
    assert answer.json()["error"] == sentence
    (found,) = answer.json()["contradictions"]
    assert (found["sentence"], found["arcs"]) == (sentence, arcs)
    assert client.get(table).json()["knowledge"] == {"required": [["a", "d"]]}
    checked = client.post(f"{table}/check", json=content).json()["contradictions"]
    assert checked == [found]


def test_all_contradictions_are_found_at_once():
    content = {
        "required": [["a", "b"], ["b", "a"], ["c", "d"]],
        "forbidden": [["c", "d"]],
        "max_parents": 1,
    }
    found = find_contradictions(parse_knowledge(content), NAMES)
    assert [one.sentence for one in found] == [
        "'c' -> 'd' is required and forbidden.",
        "The required arcs contain a cycle: 'a' -> 'b' -> 'a'.",
    ]


def test_there_is_a_contradiction_exactly_if_a_search_cannot_start():
    """Random knowledge: the answer is that of the rules of a search."""
    rng = np.random.default_rng(11)
    arcs = [list(arc) for arc in product(NAMES, NAMES)]
    n_wrong = 0
    for _ in range(300):
        drawn = [arcs[i] for i in rng.choice(len(arcs), rng.integers(0, 5), replace=False)]
        split = int(rng.integers(0, len(drawn) + 1))
        content = {"required": drawn[:split], "forbidden": drawn[split:]}
        if rng.random() < 0.5:
            order = rng.permutation(NAMES).tolist()
            content["tiers"] = [order[:2], order[int(rng.integers(1, 3)) :]]
        if rng.random() < 0.3:
            content["max_parents"] = 1
        if rng.random() < 0.3:
            content["roots"] = [str(rng.choice(NAMES))]
        known = parse_knowledge(content)
        try:
            known.constraints.to_rules(NAMES)
            is_wrong = False
        except GraphError:
            is_wrong = True
        assert bool(find_contradictions(known, NAMES)) == is_wrong, content
        n_wrong += is_wrong
    assert 50 < n_wrong < 250


def test_what_is_stored_is_the_ordinary_constraint_file(client, studio, table):
    content = {
        "required": [["a", "b"]],
        "forbidden": [["b", "c"]],
        "tiers": [["a"], [], ["b", "c"]],
        "max_parents": 2,
        "weights": [["a", "d", 1.5]],
    }
    assert client.put(table, json=content).status_code == 200
    path = studio.workspace.open_table("four").constraints_path
    assert read_knowledge(path, NAMES) == parse_knowledge(content)
    exported = client.get(f"{table}/file")
    assert exported.content == path.read_bytes()
    assert "attachment" in exported.headers["content-disposition"]
    assert client.put(table, json={}).status_code == 200
    assert not path.exists()
    assert client.get(f"{table}/file").json() == {
        "error": "There is no knowledge about the table 'four' yet."
    }


def test_a_file_is_imported_with_its_groups(client, table):
    text = "kind,from,to,weight\ngroup,labs,b\ngroup,labs,c\nrequired,a,labs\nmax_parents,3\n"
    answer = client.post(f"{table}/import?file=known.csv", content=text.encode()).json()
    assert answer["knowledge"] == {"max_parents": 3, "required": [["a", "b"], ["a", "c"]]}
    assert answer["contradictions"] == []
    assert client.get(table).json()["knowledge"] == {}  # the page stores it
    wrong = client.post(f"{table}/import?file=known.json", content=b'{"requird": []}')
    assert wrong.status_code == 400
    assert "has an unknown key 'requird'" in wrong.json()["error"]


def test_knowledge_about_a_column_that_is_left_out_says_so(client, table):
    client.put(table, json={"required": [["a", "b"]]})
    settings = {"types": {"b": "ignore"}, "options": {}}
    client.put("/api/tables/four/settings", json=settings)
    (found,) = client.get(table).json()["contradictions"]
    assert found["sentence"].startswith("'b' is not a variable of the table.")
    assert found["arcs"] == [["a", "b"]]


def test_what_another_tab_stored_is_not_replaced(client, studio, table):
    seen = client.get(table).json()["version"]
    assert seen == ""  # there is no file yet
    first = client.put(f"{table}?version={seen}", json={"required": [["a", "b"]]}).json()
    late = client.put(f"{table}?version={seen}", json={"forbidden": [["c", "d"]]})
    assert late.status_code == 409
    current = late.json()["current"]
    assert late.json()["error"] == (
        "The knowledge about this table was changed elsewhere since it was loaded."
    )
    assert current == first == client.get(table).json()
    assert current["knowledge"] == {"required": [["a", "b"]]}
    both = {"required": [["a", "b"]], "forbidden": [["c", "d"]]}
    merged = client.put(f"{table}?version={current['version']}", json=both)
    assert (merged.status_code, merged.json()["knowledge"]) == (200, both)
    path = studio.workspace.open_table("four").constraints_path
    path.write_text(path.read_text() + "\n")  # another program counts, too
    stale = client.put(f"{table}?version={merged.json()['version']}", json={})
    assert stale.status_code == 409
    assert client.put(f"{table}?version={stale.json()['current']['version']}", json={}).is_success
    assert client.get(table).json()["version"] == ""


def test_of_changes_at_the_same_time_one_is_stored(client, studio, table):
    path = studio.workspace.open_table("four").constraints_path
    version = compute_version(path)

    def store(arc):
        try:
            return store_knowledge(
                path, parse_knowledge({"forbidden": [list(arc)]}), NAMES, version
            )
        except StaleKnowledgeError:
            return None

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(store, permutations(NAMES, 2)))
    assert [one for one in found if one is not None] == [compute_version(path)]
