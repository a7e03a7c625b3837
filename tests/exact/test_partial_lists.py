"""A list of families that time, memory or Ctrl-C ended still bounds the score of every network."""

import math
import signal

import numpy as np
import pytest

import coevo
import naive
from coevo.errors import FormatError, ParameterError
from coevo.exact import (
    ProofTask,
    check_certificate,
    families,
    find_families,
    make_certificate,
    run_proof,
)
from coevo.exact.certificate import parse_certificate
from coevo.graph import DAG
from coevo.search import Budget
from helpers.proofs import (
    SCORES,
    list_local_scores,
    list_nondominated,
    prove_problem,
    random_problem,
)

BOUNDED = [score for score in SCORES if score != "qnml"]


@pytest.fixture
def stop_after(monkeypatch):
    """Return a function that ends every list after a number of free parents."""

    def stop(listed):
        def check(problem, size, numbers):
            if size > listed:
                raise ParameterError("The memory ends here.")

        monkeypatch.setattr(families, "_check_level", check)

    return stop


def count_free(problem, child, parents):
    return len(parents - set(np.flatnonzero(problem.rules.required[:, child]).tolist()))


@pytest.mark.parametrize("is_constrained", [False, True])
@pytest.mark.parametrize("score", BOUNDED)
def test_no_family_exceeds_the_bounds_and_the_certificate_holds(stop_after, score, is_constrained):
    for seed, listed in ((0, 0), (1, 1), (2, 2)):
        problem = random_problem(seed, score, 6, 200, is_constrained)
        local = list_local_scores(problem)
        stop_after(listed)
        task, last, certificate = prove_problem(problem)
        families = task.families
        if families.part is None:  # no larger family was needed
            continue
        kept = {
            (child, parents)
            for child, parents in list_nondominated(local)
            if count_free(problem, child, parents) <= listed
        }
        assert len(families) == len(kept)
        for child, bound in enumerate(families.part.bounds.tolist()):
            assert bound / 2**32 >= max(v for (c, _), v in local.items() if c == child)
        best = naive.best_network(6, local)
        verdict = check_certificate(certificate, problem.scorer.dataset)
        assert verdict.score + verdict.gap >= best
        assert verdict.gap == pytest.approx(task.make_search().compute_gap(last.state), abs=1e-8)
        assert (families.part.reason, families.part.note) == ("memory", "The memory ends here.")
        names, certain = problem.names, task.make_search().find_certain_arcs(last.state)
        arcs = {(names[u], names[v]) for u, v in np.argwhere(certain) if u != v}
        assert arcs == set(verdict.arcs)


def test_a_network_keeps_families_that_are_not_listed(stop_after):
    problem = random_problem(2, "bic", 6, 200)
    names = problem.names
    network = DAG(names, [(names[0], names[3]), (names[1], names[3]), (names[2], names[3])])
    stop_after(1)
    task = ProofTask(problem, find_families(problem), network)
    assert task.families.part is not None
    last, _ = run_proof(task, budget=Budget())
    certificate = make_certificate(task, last.state)
    verdict = check_certificate(certificate, problem.scorer.dataset)
    assert task.families.find(3, np.array([0, 1, 2])) is not None
    assert verdict.score >= problem.scorer.score(network)
    again = ProofTask(problem, task.families, network)
    assert len(again.families) == len(task.families)


def test_some_lists_are_partial(stop_after):
    stop_after(1)
    for score in BOUNDED:
        assert find_families(random_problem(1, score, 6, 200)).part.n_free == 1


def test_a_certificate_that_claims_more_is_refused(stop_after):
    problem = random_problem(3, "bic", 6, 200)
    stop_after(1)
    _, _, certificate = prove_problem(problem)
    dataset = problem.scorer.dataset
    values = certificate.as_dict()
    for change in ({"gap": values["gap"] - 1}, {"listed": 0}):
        with pytest.raises(FormatError, match="it claims a gap of"):
            check_certificate(parse_certificate({**values, **change}), dataset)
    split = [[0, 0, 1, is_in, []] for is_in in (0, 1)]
    for change in ({"clusters": [[1, [0, 1]]]}, {"nodes": [*values["nodes"], *split]}):
        with pytest.raises(FormatError, match="a part of the families has no tree"):
            check_certificate(parse_certificate({**values, **change}), dataset)
    with pytest.raises(FormatError, match="'listed' is invalid"):
        parse_certificate({**values, "listed": -1})
    more = parse_certificate({**values, "listed": 3})  # true, and takes longer
    assert check_certificate(more, dataset).gap <= certificate.gap / 2**32 + 1e-9


def test_the_time_ends_a_list_after_the_first_level():
    part = find_families(random_problem(0, "bic", 6, 200), deadline=-math.inf).part
    assert (part.n_free, part.reason) == (0, "time")
    assert part.note == "Give more time, or a smaller limit on parents."


def test_ctrl_c_ends_a_list():
    def press(message):
        if "1 parents" in message:
            signal.raise_signal(signal.SIGINT)

    part = find_families(random_problem(0, "bic", 6, 200), show=press).part
    assert (part.n_free, part.reason) == (0, "interrupt")


def test_without_a_bound_there_is_no_partial_list(stop_after):
    problem = random_problem(0, "qnml", 6, 200)
    with pytest.raises(ParameterError, match="The time limit ended the proof before its first bo"):
        find_families(problem, deadline=-math.inf)
    with pytest.raises(ParameterError, match="The time limit ended the proof before its first bo"):
        find_families(random_problem(0, "bic", 6, 200), slack=1.0, deadline=-math.inf)
    stop_after(1)
    with pytest.raises(ParameterError, match="The memory ends here"):
        find_families(problem)


@pytest.mark.usefixtures("stopped_search")
def test_ctrl_c_in_the_search_ends_the_proof_too():
    rows = coevo.sample(coevo.load_network("asia"), 300, random_state=1)
    with pytest.warns(coevo.CoevoWarning, match="Only the families of at most 0 parents"):
        proof = coevo.prove(rows, score="bic")
    assert (proof.stop_reason, proof.listed) == ("interrupt", 0)
