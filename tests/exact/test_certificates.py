"""A certificate that is changed proves nothing false: the checker refuses it, or it still holds."""

import copy
import functools
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import naive
from coevo.errors import CoevoError, FormatError
from coevo.exact import (
    check,
    check_certificate,
    find_families,
    list_good_networks,
    read_certificate,
    write_certificate,
)
from coevo.exact.certificate import parse_certificate
from coevo.graph import CPDAG, DAG
from helpers.proofs import list_local_scores, prove_example, prove_problem, random_problem

N_MUTATIONS = 2000


@pytest.fixture
def quick_check(monkeypatch):
    """Return the checker; it lists the families of the example once."""
    problem = prove_example()[0]
    lists = {}

    def list_once(bounds, child, most):
        assert most is None
        scorer, rules = bounds.scorer, bounds.rules
        key = (rules.allowed.tobytes(), rules.required.tobytes(), rules.max_parents)
        settings = (scorer.scoring, scorer.parent_penalty, tuple(sorted(scorer.weights.items())))
        known = (*key, settings, child)
        if known not in lists:
            lists[known] = original(bounds, child)
        return lists[known]

    original = check.list_families
    monkeypatch.setattr(check, "list_families", list_once)
    return functools.partial(check_certificate, dataset=problem.scorer.dataset)


def change_number(rng, values):
    """Change one weight, gap, cluster or decision of a certificate."""
    nodes, clusters = values["nodes"], values["clusters"]
    kind = rng.integers(11)
    leaves = [node for node in nodes if node[4]]
    step = int(rng.choice([1, 1000, 2**28, 2**34])) * int(rng.choice([-1, 1]))
    if kind == 0 and leaves:
        leaf = leaves[rng.integers(len(leaves))]
        leaf[4][rng.integers(len(leaf[4]))][1] += step
    elif kind == 1 and values["filters"] and values["filters"][0]:
        one = values["filters"][0]
        one[rng.integers(len(one))][1] += step
    elif kind == 2 and clusters:
        members = clusters[rng.integers(len(clusters))][1]
        members.remove(members[rng.integers(len(members))])
    elif kind == 3 and clusters:
        one = clusters[rng.integers(len(clusters))]
        one[1] = sorted({*one[1], int(rng.integers(8))})
    elif kind == 4 and clusters:
        clusters[rng.integers(len(clusters))][0] += int(rng.choice([-1, 1]))
    elif kind == 5 and len(nodes) > 1:
        node = nodes[rng.integers(1, len(nodes))]
        place = int(rng.integers(4))
        node[place] = int(rng.integers(-1, 8))
    elif kind == 6 and len(nodes) > 1:
        nodes.pop(rng.integers(1, len(nodes)))
    elif kind == 7:
        values["gap"] += step
    elif kind == 8:
        values["tables"][rng.integers(len(values["tables"]))][0] += int(rng.choice([-1, 1]))
    elif kind == 9:
        rows = values["tables"][rng.integers(len(values["tables"]))][1]
        row, place = rng.integers(len(rows)), rng.integers(16)
        rows[row] = rows[row][:place] + str(rng.integers(10)) + rows[row][place + 1 :]
    else:
        values["network"] = values["network"][: rng.integers(len(values["network"]) + 1)]


def test_mutated_certificates_prove_nothing_false(quick_check):
    problem, _, _, certificate = prove_example()
    best = naive.best_network(8, list_local_scores(problem))
    original = certificate.as_dict()
    rng = np.random.default_rng(0)
    n_refused = n_held = 0
    for _ in range(N_MUTATIONS):
        values = copy.deepcopy(original)
        for _ in range(rng.integers(1, 4)):
            change_number(rng, values)
        try:
            verdict = quick_check(parse_certificate(values))
        except CoevoError:
            n_refused += 1
            continue
        n_held += 1
        assert verdict.score + verdict.gap >= best - 1e-9
    assert n_refused > N_MUTATIONS / 3
    assert n_held > N_MUTATIONS / 20


def test_each_part_changed_in_the_wrong_direction_is_refused(quick_check):
    _, _, last, certificate = prove_example()
    assert len(last.state.nodes) >= 3
    original = certificate.as_dict()
    values = copy.deepcopy(original)
    values["gap"] -= 1
    with pytest.raises(FormatError) as caught:
        quick_check(parse_certificate(values))
    assert str(caught.value) == (
        f"The certificate does not hold: it claims a gap of {values['gap']} units, and its weights "
        f"prove {original['gap']}."
    )
    n_worse = 0
    for node in range(len(original["nodes"])):
        for place in range(len(original["nodes"][node][4])):
            for step in (-(2**30), 2**30):
                values = copy.deepcopy(original)
                weights = values["nodes"][node][4][place]
                weights[1] = max(0, weights[1] + step)
                try:
                    assert quick_check(parse_certificate(values)).gap <= original["gap"] / 2**31
                except FormatError:
                    n_worse += 1
    assert n_worse > 0


def test_an_arc_is_decided_once(quick_check):
    """A tree that is deeper than there are arcs would make paths without end."""
    values = prove_example()[3].as_dict()
    pairs = [[[2 * i, 0, 1, 1, []], [2 * i, 0, 1, 0, []]] for i in range(100)]
    values["nodes"] = [values["nodes"][0], *(node for pair in pairs for node in pair)]
    with pytest.raises(FormatError) as caught:
        quick_check(parse_certificate(values))
    assert str(caught.value) == "The certificate does not hold: it decides an arc twice."


def test_leaves_must_cover_all_networks(quick_check):
    _, _, _, certificate = prove_example()
    values = certificate.as_dict()
    values["nodes"] = [[-1, -1, -1, 1, []], [0, 0, 1, 1, []]]
    with pytest.raises(FormatError) as caught:
        quick_check(parse_certificate(values))
    sentence = "The certificate does not hold: its leaves leave out networks."
    assert str(caught.value) == sentence
    values["nodes"].append([0, 0, 2, 0, []])
    with pytest.raises(FormatError, match="leave out networks"):
        quick_check(parse_certificate(values))


def test_another_table_is_refused():
    _, _, _, certificate = prove_example()
    other = random_problem(4, "k2", 8, 60).scorer.dataset
    with pytest.raises(FormatError) as caught:
        check_certificate(certificate, other)
    assert str(caught.value) == (
        f"The certificate is for another table: hash {certificate.data_hash[:12]}; this is "
        f"{other.content_hash[:12]}. Read the table with the same options as for the proof."
    )


def test_files_are_written_and_read(tmp_path):
    _, _, _, certificate = prove_example()
    path = tmp_path / "certificate.json.gz"
    write_certificate(certificate, path)
    first = path.read_bytes()
    assert read_certificate(path) == certificate
    write_certificate(certificate, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.update(version=2), "its format or version is another one."),
        (lambda values: values.update(gap=-1), "'gap' is invalid."),
        (lambda values: values.update(ess="x"), "'ess' is invalid."),
        (lambda values: values.update(parent_penalty=-1), "'parent_penalty' is invalid."),
        (lambda values: values.update(max_table=0), "'max_table' is invalid."),
        (lambda values: values["tables"][0].__setitem__(0, -1), "'tables' is invalid."),
        (lambda values: values["tables"][0][1].append("1" * 16), "'tables' is invalid."),
        (lambda values: values["tables"][0][1].__setitem__(0, "1²" * 8), "'tables' is invalid."),
        (lambda values: values.update(clusters=[[-1, [0, 1]]]), "'clusters' is invalid."),
        (lambda values: values.update(clusters=[[1, [0, 0]]]), "'clusters' is invalid."),
        (lambda values: values.update(clusters=[[3, [0, 1]]]), "'clusters' is invalid."),
        (lambda values: values.update(filters=[[[10**6, 1]]]), "'weights' is invalid."),
        (lambda values: values.update(nodes=[]), "'nodes' is invalid."),
        (lambda values: values["network"].append([["a"], "b"]), "'arcs' is invalid."),
        (lambda values: values.update(weights=[["a", 1, 0.5]]), "'arcs' is invalid."),
        (lambda values: values["nodes"].append([0, 0, 99, 1, []]), "'nodes' is invalid."),
    ],
)
def test_invalid_parts_are_named(tmp_path, change, message):
    values = prove_example()[3].as_dict()
    change(values)
    path = tmp_path / "certificate.json.gz"
    path.write_bytes(gzip.compress(json.dumps(values).encode()))
    with pytest.raises(FormatError) as caught:
        read_certificate(path)
    assert str(caught.value) == f"{str(path)!r} is not a valid certificate: {message}"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": 1}', b"\x1f\x8b\x00", b"null"])
def test_other_files_are_no_certificates(tmp_path, content):
    path = tmp_path / "certificate.json.gz"
    path.write_bytes(content)
    with pytest.raises(CoevoError):
        read_certificate(path)


def test_the_checker_is_short():
    source = Path(check.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 300  # with its own list of families


def test_good_networks_are_those_of_enumeration():
    for seed, within in ((0, 1.0), (1, 3.0), (2, 0.0)):
        problem = random_problem(seed, "bic", 4, 50)
        local = list_local_scores(problem)
        names = problem.names
        scores = {}
        for arcs in naive.all_dags(4):
            dag = DAG(names, [(names[u], names[v]) for u, v in arcs])
            score = sum(local[v, frozenset(naive.parents_in(arcs, v))] for v in range(4))
            scores.setdefault(CPDAG(dag), score)
        best = max(scores.values())
        wanted = {cpdag for cpdag, score in scores.items() if score > best - within - 1e-9}
        _, last, _ = prove_problem(problem)
        good = list_good_networks(find_families(problem, within), last.state, names, within)
        assert good.is_complete
        # at a slack of 0, classes with the same score as a subset may be left out
        assert {cpdag for cpdag, _ in good.classes} == wanted
        total = sum(np.exp(score - best) for score in (s for c, s in scores.items() if c in wanted))
        for (a, b), share in good.shares.items():
            weight = sum(
                np.exp(scores[c] - best) * (1.0 if (a, b) in c.arcs else 0.5)
                for c in wanted
                if (a, b) in c.arcs or (a, b) in c.edges or (b, a) in c.edges
            )
            assert share == pytest.approx(weight / total, abs=1e-6)
        few = list_good_networks(find_families(problem, within), last.state, names, within, 1)
        assert few.is_complete == (len(wanted) == 1)
        assert few.classes == good.classes[:1] or not few.is_complete
