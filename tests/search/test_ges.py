"""GES makes every valid operator and no other, finds true classes, and ends at a local optimum."""

import itertools
import math

import numpy as np
import pytest

import coevo
import naive
from coevo.errors import ParameterError
from coevo.graph import CPDAG, DAG
from coevo.score import FamilyScorer
from coevo.search import GES, Budget, Problem, run_search
from coevo.search.base import LEAST_GAIN
from coevo.search.equivalence import EquivalenceClass, iter_bits, make_adjacency
from coevo.search.ges_operators import DELETE, INSERT, TURN, OperatorQueue, apply_operator
from helpers.problems import as_arcs, collect_states, make_problem, random_constraints, random_table
from helpers.random_tables import dataset_of

N = 4
CLASSES = naive.equivalence_classes(N)
KINDS = {INSERT: "add", DELETE: "delete", TURN: "reverse"}
EQUIVALENT = ("bdeu", "bic", "aic", "qnml")


def make_parents(arcs, n=N):
    return [sum(1 << parent for parent, other in arcs if other == child) for child in range(n)]


def list_arcs(sets):
    return {(parent, child) for child, parents in enumerate(sets) for parent in iter_bits(parents)}


def make_key(graph):
    return naive.class_key(list_arcs(graph.find_member([0] * len(graph.parents))))


def list_operators(queue, kind):
    """Return all operators of a kind, and leave the queue as it was."""
    seen, operators = set(), []
    while best := queue.pop_best(kind, seen):
        operators += best
    queue.put_back(seen)
    assert len(operators) == len(set(operators))
    return operators


def list_valid_operators(queue):
    """Return {(kind, y, x, clique): gain} of the operators that are valid on the class."""
    return {
        (kind, operator.y, operator.x, operator.clique): -operator.loss
        for kind in KINDS
        for operator in list_operators(queue, kind)
        if apply_operator(queue.graph, operator) is not None
    }


def score_members(scorer, arcs):
    names = scorer.dataset.names
    return scorer.score(DAG(names, [(names[a], names[b]) for a, b in arcs]))


# The likelihood gains by every insertion, a large penalty by every deletion.
@pytest.mark.parametrize(("score", "penalty"), [("loglik", 0), ("bdeu", 0), ("bdeu", 1000)])
def test_the_operators_are_the_changes_of_one_arc_in_any_member(score, penalty, seed):
    """Each class that raises the score is reached, by operators with the right gain, and no other.

    An operator leads to the class of the DAG with the changed arc. All 185 classes are tried.
    """
    scorer = FamilyScorer(random_table(seed, N, 80), score, parent_penalty=float(penalty))
    problem = Problem.from_scorer(scorer)
    value = {key: score_members(scorer, members[0]) for key, members in CLASSES.items()}
    n_operators = dict.fromkeys(KINDS, 0)
    for key, members in CLASSES.items():
        reachable = naive.neighbour_classes(N, members)
        queue = OperatorQueue(problem, EquivalenceClass(make_parents(members[0])))
        for kind, word in KINDS.items():
            reached = set()
            for operator in list_operators(queue, kind):
                graph = apply_operator(queue.graph, operator)
                if graph is not None:
                    reached.add(make_key(graph))
                    gain = value[make_key(graph)] - value[key]
                    assert -operator.loss == pytest.approx(gain, abs=1e-8)
                    n_operators[kind] += 1
            assert reached == {c for c in reachable[word] if value[c] > value[key] + LEAST_GAIN}
    assert n_operators[TURN] > 20
    assert n_operators[INSERT] > 20 or penalty
    assert n_operators[DELETE] > 20 or score == "loglik"


@pytest.mark.parametrize("case", range(6))
def test_an_operator_is_valid_exactly_if_a_member_has_its_parents(case, seed):
    """Compare every triple (x, y, clique) with an enumeration of the members of its class.

    The member with these parents of y must stay acyclic when its arc changes.
    """
    keys = sorted(CLASSES, key=repr)[case::6]
    problem = make_problem(random_table(seed, N, 80), "loglik")
    for key in keys:
        members = CLASSES[key]
        queue = OperatorQueue(problem, EquivalenceClass(make_parents(members[0])))
        graph = queue.graph
        right = set()
        for arcs, (x, y) in itertools.product(members, itertools.permutations(range(N), 2)):
            parents = make_parents(arcs)
            is_joined = (x, y) in arcs or (y, x) in arcs
            clique = parents[y] & ~graph.parents[y]
            if not is_joined and naive.topological_orders(range(N), arcs | {(x, y)}):
                right.add((y, x, clique))
        found = {(o.y, o.x, o.clique) for o in list_operators(queue, INSERT)}
        valid = {
            (o.y, o.x, o.clique)
            for o in list_operators(queue, INSERT)
            if apply_operator(graph, o) is not None
        }
        assert valid == right
        assert found >= right


@pytest.mark.parametrize("score", ["loglik", "bdeu"])
@pytest.mark.parametrize("case", range(6))
def test_an_updated_queue_equals_a_new_one(case, score, seed):
    """Walk at random over classes of six variables, by operators of all kinds."""
    rng = np.random.default_rng([seed, case])
    penalty = 0.0 if score == "loglik" else 40.0 * (case % 2)
    scorer = FamilyScorer(random_table([seed, case], 6, 100), score, parent_penalty=penalty)
    problem = Problem.from_scorer(scorer)
    dag = np.triu(rng.random((6, 6)) < 0.4, 1)
    queue = OperatorQueue(problem, EquivalenceClass(make_parents(as_arcs(dag), 6)))
    for _ in range(12):
        fresh = OperatorQueue(problem, queue.graph)
        operators = list_valid_operators(queue)
        assert operators == list_valid_operators(fresh)
        if rng.random() < 0.5 and operators:  # else to any other class
            chosen = sorted(operators)[int(rng.integers(len(operators)))]
            kind, y, x, clique = chosen
            found = [
                o for o in list_operators(queue, kind) if (o.y, o.x, o.clique) == (y, x, clique)
            ]
            after = apply_operator(queue.graph, found[0])
        else:
            arcs = list_arcs(queue.graph.find_member([0] * 6))
            moves = list(naive.single_moves(6, arcs, lambda _: True))
            after = EquivalenceClass(make_parents(moves[int(rng.integers(len(moves)))][3], 6))
        queue.update(after)


class PerfectScorer(FamilyScorer):
    """BIC of a very large sample that has exactly the probabilities of a network."""

    def __init__(self, names, joint, n_rows):
        super().__init__(dataset_of([2] * N, np.eye(2, N, dtype=int).T), "bic")
        assert self.dataset.names == names
        self._joint, self._n = joint, n_rows

    def _compute(self, families):
        scores = []
        for first, last in itertools.pairwise(families.start):
            child, *parents = families.members[first:last].tolist()
            gain = self._entropy(parents) - self._entropy([child, *parents])
            scores.append(self._n * gain - math.log(self._n) / 2 * 2 ** len(parents))
        return np.array(scores)

    def _entropy(self, variables):
        others = tuple(v for v in range(N) if v not in variables)
        cells = self._joint.sum(axis=others).ravel()
        return float(-(cells * np.log(cells)).sum())


def make_joint(rng, arcs):
    """Return the distribution of a random binary network; each parent has a strong effect."""
    joint = np.ones((2,) * N)
    for child in range(N):
        parents = naive.parents_in(arcs, child)
        effects = rng.choice([-1, 1], len(parents)) * rng.uniform(0.7, 1.5, len(parents))
        bias = rng.uniform(0.2, 0.5)
        for cell in itertools.product(range(2), repeat=N):
            raised = sum(e * cell[parent] for e, parent in zip(effects, parents, strict=True))
            p = 1 / (1 + math.exp(-bias - raised))
            joint[cell] *= p if cell[child] else 1 - p
    return joint


@pytest.mark.parametrize("turning", [False, True])
def test_every_class_is_found_from_its_exact_distribution(turning, seed):
    """Chickering's theorem: with enough rows, GES finds the class of the truth.

    All 543 DAGs are the truth once; without turning, one of each class.
    """
    rng = np.random.default_rng(seed)
    names = tuple(f"v{i:03d}" for i in range(N))
    truths = naive.all_dags(N) if turning else [members[0] for members in CLASSES.values()]
    for arcs in truths:
        scorer = PerfectScorer(names, make_joint(rng, arcs), 1e9)
        found = run_search(GES(turning=turning), scorer)
        assert found.stop_reason == "finished"
        assert CPDAG(found.dag) == CPDAG(DAG(names, [(names[a], names[b]) for a, b in arcs]))


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("score", EQUIVALENT)
@pytest.mark.parametrize("case", range(8))
def test_no_class_nearby_is_better_at_the_end(case, score, constrained, seed):
    """With constraints: no class that has a member which satisfies them."""
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], N, 60 + 200 * (case % 2))
    known = random_constraints(rng, table.names) if constrained else None
    scorer = FamilyScorer(table, score, max_table=24 if case % 3 == 0 else None)
    try:
        problem = Problem.from_scorer(scorer, known)
    except coevo.GraphError:  # the required arcs need a larger table
        return
    found = run_search(GES(), scorer, constraints=known)
    assert found.stop_reason == "finished"
    key = naive.class_key(as_arcs(make_matrix(found.dag, table.names)))
    for keys in naive.neighbour_classes(N, CLASSES[key]).values():
        for other in keys:
            allowed = [
                arcs
                for arcs in CLASSES[other]
                if problem.rules.is_satisfied_by(make_adjacency(make_parents(arcs)))
            ]
            if allowed:
                assert score_members(scorer, allowed[0]) <= found.score + 1e-7


def make_matrix(dag, names):
    return DAG(names, dag.arcs).adjacency()


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_ges_is_at_least_as_good_as_hill_climbing(name, seed):
    table = coevo.sample(coevo.load_network(name), 1000, random_state=seed)
    scorer = FamilyScorer(table, "bdeu")
    climbed = run_search("hill_climb", scorer)
    assert run_search(GES(), scorer, start=climbed.dag).score >= climbed.score
    assert run_search("ges", scorer).score > climbed.score - 1


def test_the_two_phases_of_chickering(seed):
    table = random_table(seed, 8, 300)
    problem = make_problem(table, "bdeu")
    states = collect_states(GES(turning=False), problem, seed, 99)
    n_inserts, _, n_turns = states[-1].n_applied
    assert n_inserts > 0
    assert n_turns == 0
    assert states[-1].phase == TURN


def test_phases_repeat_until_none_improves_the_score():
    """Search for a table on which the turning phase changes the class, and more follows."""
    for case in range(400):
        table = random_table([5, case], 6, 150)
        scorer = FamilyScorer(table, "bdeu")
        found = run_search("ges", scorer)
        if found.state.n_applied[TURN]:
            plain = run_search(GES(turning=False), scorer)
            assert found.score > plain.score + LEAST_GAIN
            return
    pytest.fail("No table needs the turning phase.")


def test_a_step_applies_a_bounded_number_of_operators(seed):
    problem = make_problem(
        coevo.sample(coevo.load_network("alarm"), 500, random_state=seed), "bdeu"
    )
    states = collect_states(GES(), problem, seed, 99)
    steps = [
        int(after.n_applied.sum() - s.n_applied.sum()) for s, after in itertools.pairwise(states)
    ]
    assert max(steps) == 16
    assert len(steps) > 2


@pytest.mark.parametrize("score", ["k2", "bds", "fnml"])
def test_other_scores_rise_with_every_operator(score, seed):
    problem = make_problem(random_table(seed, 9, 200), score)
    states = collect_states(GES(), problem, seed, 99)
    for before, after in itertools.pairwise(states):
        n = after.n_applied.sum() - before.n_applied.sum()
        assert (after.score > before.score) == (n > 0)
    assert states[-1].n_applied.sum() > 3


def test_a_forbidden_direction_keeps_the_edge(seed):
    """Two dependent variables: the class has one edge, the constraint directs it."""
    column = np.random.default_rng(seed).integers(0, 2, 200)
    scorer = FamilyScorer(dataset_of([2, 2], np.array([column, column])), "bdeu")
    for arc in (("v000", "v001"), ("v001", "v000")):
        known = coevo.Constraints(forbidden=[arc])
        assert run_search("ges", scorer, constraints=known).dag.arcs == (arc[::-1],)
    known = coevo.Constraints(forbidden=[("v000", "v001"), ("v001", "v000")])
    assert run_search("ges", scorer, constraints=known).dag.arcs == ()


def test_settings():
    assert GES().settings == {"turning": True}
    assert (GES.name, GES.default_budget) == ("ges", Budget())
    with pytest.raises(ParameterError) as caught:
        GES(turning=1)
    assert str(caught.value) == "'turning' of GES must be True or False; got 1."
