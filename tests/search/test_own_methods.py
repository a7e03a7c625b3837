"""Methods from outside coevo: by class, by file and by entry point, with settings and checks."""

import json
import sys

import numpy as np
import pytest

import coevo
from coevo.errors import FileError, MethodError, ParameterError
from coevo.score import FamilyScorer
from coevo.search import (
    METHODS,
    Budget,
    HillClimb,
    Islands,
    choose_method,
    make_method,
    run_search,
    split_methods,
)
from coevo.search.registry import MethodText
from contracts import SearchContract
from helpers import own_methods
from helpers.errors import refusal
from helpers.own_methods import ANNEALING, install_package, load_annealing, write_broken
from helpers.problems import get_outcome, random_table
from helpers.values import as_values

lab = own_methods.lab


class TestAnnealing(SearchContract):
    """The example of the guide keeps every promise of a method."""

    scores_batches = False
    source = f"{ANNEALING}:Annealing"

    def make_method(self, names):
        return load_annealing()(moves=20)


# -- the text of a method


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("k2", MethodText("k2")),
        ("hill_climb:restarts=5", MethodText("hill_climb", None, {"restarts": 5})),
        ("ccma:", MethodText("ccma")),
        ("a.b:C", MethodText("C", "a.b")),
        ("a.b:C:x=1e-3,y=no", MethodText("C", "a.b", {"x": 0.001, "y": "no"})),
        (r"C:\lab\s.py:M:x=none", MethodText("M", r"C:\lab\s.py", {"x": None})),
        ("../lab/s.py:M", MethodText("M", "../lab/s.py")),
    ],
)
def test_texts(text, parsed):
    assert MethodText.parse(text) == parsed


def test_lists_of_texts():
    assert split_methods(["ccma:,orders=3,", "ccma,orders=3"]) == ("ccma:orders=3",) * 2
    assert split_methods(["k2, tabu", "a:B:x=1,y=2,ccma:orders=3", "s.py:M"]) == (
        "k2", "tabu", "a:B:x=1,y=2", "ccma:orders=3", "s.py:M",
    )  # fmt: skip


def test_settings_and_limits():
    chosen = choose_method("Hill-Climb:restarts=5,patience=7", "x")
    assert chosen.method == HillClimb(restarts=5)
    assert chosen.limit(None, "x") == Budget(patience=7)
    assert chosen.limit(Budget(max_time=3), "x") == Budget(max_time=3, patience=7)
    assert make_method("islands:islands=2,orders=5", "x") == Islands(islands=2, orders=5)


def test_limits_hold(seed):
    scorer = FamilyScorer(random_table(seed), "k2")
    found = run_search("ccga:population=10,max_generations=3", scorer, random_state=seed)
    assert (found.generations, found.stop_reason) == (3, "generations")
    assert found.settings["population"] == 10
    learned = coevo.learn(scorer.dataset, method="ccga:max_generations=2", bootstraps=0)
    assert learned.search.generations == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "hill_climb:restart=5",
            "The method 'hill_climb' has no setting 'restart'. Its settings: perturbations, "
            "restarts. Limits: max_time, max_generations, max_evaluations, patience, target. Did "
            "you mean 'restarts'?",
        ),
        ("hill_climb:restarts=-1", "'restarts' of HillClimb must be an int >= 0; got -1."),
        ("ccma:patience=0", "'patience' of Budget must be an int >= 1 or None; got 0."),
        (
            "ccma:orders",
            "'ccma:orders' has no value for 'orders'. Write METHOD:SETTING=VALUE, as in "
            "hill_climb:restarts=5.",
        ),
        (
            "ccma:orders=3,masks",
            "'masks' of 'ccma:orders=3,masks' is not a setting. Write NAME=VALUE, as in "
            "hill_climb:restarts=5.",
        ),
        ("ccma:orders=3,orders=4", "'ccma:orders=3,orders=4' gives 'orders' twice."),
        (
            "islands:runner=x",
            "The method 'islands' has no setting 'runner'. Its settings: epoch, islands, masks, "
            "migrants, orders, restart_after. Limits: max_time, max_generations, "
            "max_evaluations, patience, target.",
        ),
    ],
)
def test_bad_settings(text, sentence):
    assert refusal(ParameterError, choose_method, text, "learn") == sentence


def test_a_limit_is_given_once():
    assert refusal(
        ParameterError, run_search, "ccma:patience=3", FamilyScorer(random_table(1)),
        budget=Budget(patience=4),
    ) == "'patience' of run_search is 4, and the method says 3. Give it once."  # fmt: skip


# -- where a class comes from


@pytest.mark.parametrize("source", ["cooling:Annealing", "cooling.py:Annealing", "{}:Annealing"])
def test_a_class_of_a_module_or_a_file(lab, source, seed):
    method = make_method(source.format(lab / "cooling.py") + ":moves=30", "x")
    assert type(method).__module__ == "cooling"
    assert method.settings == {"moves": 30, "temperature": 20.0, "cooling": 0.9}
    scorer = FamilyScorer(random_table(seed), "bdeu")
    known = load_annealing()(moves=30)
    found, expected = (run_search(m, scorer, random_state=seed) for m in (method, known))
    assert get_outcome(found) == get_outcome(expected)


def test_an_entry_point(lab):
    install_package(lab)
    method = make_method("chilled:moves=7", "x")
    assert (type(method).__module__, method.moves) == ("chilled", 7)
    assert make_method("CHILLED", "x").name == "annealing"
    listed = ", ".join(repr(name) for name in sorted([*METHODS, "chilled"]))
    assert refusal(ParameterError, make_method, "chiled", "learn") == (
        f"'method' of learn must be one of {listed}; got 'chiled'. Did you mean 'chilled'?"
    )


def test_nothing_is_imported_unless_it_is_named(lab):
    install_package(lab)
    before = list(sys.path)
    make_method("ccma", "x")
    refusal(ParameterError, make_method, "nothing", "x")
    assert not {"chilled", "cooling"} & set(sys.modules)
    assert sys.path == before


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "colling:Annealing",
            "There is no module 'colling', neither installed nor in {lab!r}. Install it, or give "
            "the path of its file, as in lab/search.py:MySearch.",
        ),
        ("colling.py:Annealing", "There is no file 'colling.py'."),
        ("cooling:Anealing", "'cooling' has no class 'Anealing'. Did you mean 'Annealing'?"),
        (
            "2nd.py:A",
            "'2nd.py' cannot be imported, because '2nd' is not a Python name. Rename it.",
        ),
        (
            "json.py:A",
            "'json.py' cannot be imported, because there is another module 'json'. Rename the "
            "file.",
        ),
    ],
)
def test_classes_that_are_not_found(lab, source, sentence):
    for name in ("2nd.py", "json.py"):
        (lab / name).write_text("")
    expected = sentence.format(lab=str(lab))
    assert refusal(ParameterError, make_method, source, "learn") == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nothing_there", "ModuleNotFoundError: No module named 'nothing_there'."),
        ("1 / 0", "ZeroDivisionError: division by zero."),
    ],
)
def test_a_module_that_fails(lab, text, sentence):
    (lab / "failing.py").write_text(text)
    expected = f"The method 'failing:A' cannot be imported: {sentence}"
    assert refusal(MethodError, make_method, "failing:A", "learn") == expected


# -- the interface of a class


@pytest.mark.parametrize(
    ("was", "now", "problem"),
    [
        (
            "class Annealing(Method)",
            "class Annealing",
            "it is not a subclass of coevo.search.Method",
        ),
        ("def make_search", "def make_searches", "it has no 'make_search'"),
        ('name: ClassVar[str] = "annealing"', "", "its 'name' must be a str"),
        ("= Budget()  #", "= None  #", "its 'default_budget' must be a Budget"),
        (
            "= AnnealingState\n",
            "= dict\n",
            "its 'state_type' must be a subclass of coevo.search.SearchState",
        ),
        (
            "@dataclass(frozen=True)\nclass Annealing(",
            "class Annealing(",
            "'Annealing' has fields and needs @dataclass(frozen=True)",
        ),
        (
            "@dataclass(frozen=True)\nclass AnnealingState(",
            "class AnnealingState(",
            "'AnnealingState' has fields and needs @dataclass(frozen=True)",
        ),
    ],
)
def test_classes_without_the_interface(lab, was, now, problem):
    write_broken(lab, "broken", was, now)
    expected = f"'broken:Annealing' is not a search method: {problem}."
    assert refusal(MethodError, make_method, "broken:Annealing", "learn") == expected


# -- what a method returns

TABLE = random_table(3, n_variables=4)
A, B = TABLE.names[:2]


@pytest.mark.parametrize(
    ("was", "now", "problem"),
    [
        (
            'return state, {"temperature": state.temperature}',
            "return state",
            "0: it must return a state and an info; got a AnnealingState",
        ),
        (
            'return state, {"temperature": state.temperature}',
            "return {}, {}",
            "0: its state must be a AnnealingState; got a dict",
        ),
        (
            'return state, {"temperature": state.temperature}',
            "return state, 3.0",
            "0: its info must be a mapping of names to numbers; got a float",
        ),
        ("generation=0,", "generation=1,", "0: its state has the generation 1"),
        ("score=math.fsum(local),", "score=-1.0,", "0: its score is -1.0, and that of its"),
        (
            "adjacency = self.problem.start\n",
            "adjacency = self.problem.start.astype(int)\n",
            "0: its adjacency must be an array of bool",
        ),
        (
            "            adjacency=adjacency,\n",
            "            adjacency=adjacency[1:],\n",
            "0: its adjacency has the shape (3, 4), and the table has 4 variables",
        ),
        (
            "adjacency = self.problem.start\n",
            "adjacency = np.eye(len(self.problem.names), k=1, dtype=bool)\n"
            "        adjacency |= adjacency.T\n",
            f"0: its structure is not a DAG. The arcs contain a cycle: {A!r} -> {B!r} -> {A!r}",
        ),
        (
            "(best, self.problem.score(best))",
            "(best, state.score - 1)",
            "its best score falls from",
        ),
        (
            "or not self.problem.rules.is_satisfied_by(after)",
            "",
            f"its structure breaks the constraints: {A!r} -> {B!r} is not allowed",
        ),
    ],
)
def test_states_that_break_the_interface(lab, was, now, problem):
    write_broken(lab, "broken", was, now)
    forbidden = coevo.Constraints(forbidden=[(A, B), (B, A)], required=[])
    message = refusal(
        MethodError, run_search, "broken:Annealing", FamilyScorer(TABLE, "loglik"),
        constraints=forbidden, random_state=1,
    )  # fmt: skip
    start = "The method 'annealing' is wrong in generation "
    assert message.startswith(start)
    if problem.endswith("not allowed"):
        assert message.removeprefix(start).split(": ", 1)[1] in {
            f"its structure breaks the constraints: {x!r} -> {y!r} is not allowed."
            for x, y in ((A, B), (B, A))
        }
    else:
        assert problem in message


def test_a_search_of_the_wrong_type(lab):
    write_broken(lab, "broken", "return AnnealingSearch(self, problem)", "return self")
    expected = "'make_search' of 'annealing' must return a coevo.search.Search; got a Annealing."
    assert refusal(MethodError, run_search, "broken:Annealing", FamilyScorer(TABLE)) == expected


# -- learn: checkpoints, bootstraps in processes, the estimator


def test_learn_saves_and_resumes(lab):
    rows = coevo.sample(coevo.load_network("asia"), 300, random_state=1)
    options = {"method": "cooling:Annealing:moves=20", "bootstraps": 0}
    one = coevo.learn(rows, output="run", **as_values({"max_generations": 6, **options}))
    assert json.loads((lab / "run" / "run.json").read_text())["method"] == "annealing"
    more = coevo.learn(
        rows, output="run", resume=True, **as_values({"max_generations": 12, **options})
    )
    full = coevo.learn(rows, **as_values({"max_generations": 12, **options}))
    assert (more.dag, more.score) == (full.dag, full.score)
    assert more.search.generations == 12 > one.search.generations
    assert [row.score for row in more.history] == [row.score for row in full.history]


def test_other_code_does_not_resume(lab):
    rows = coevo.sample(coevo.load_network("asia"), 300, random_state=1)
    options = {"bootstraps": 0, "max_generations": 6, "output": "run"}
    coevo.learn(rows, method="cooling:Annealing", **as_values(options))
    write_broken(lab, "cooling", "rng.random() <", "0.5 <")
    del sys.modules["cooling"]
    message = refusal(
        FileError, coevo.learn, rows, method="cooling:Annealing", resume=True, **as_values(options)
    )
    assert message.startswith("'run' holds a search with other code of the method: hash ")


def test_processes_import_the_class(lab):
    """Bootstrap samples run in other processes, which start with the same path."""
    rows = coevo.sample(coevo.load_network("asia"), 200, random_state=1)
    method = "cooling.py:Annealing:moves=10,max_generations=5"
    options = {"method": method, "random_state": 1}
    found = coevo.bootstrap_strength(rows, bootstraps=3, n_jobs=2, **options)
    alone = coevo.bootstrap_strength(rows, bootstraps=3, n_jobs=1, **options)
    assert found == alone


def test_the_estimator(lab):
    rows = np.random.default_rng(1).integers(0, 2, (80, 3)).astype(str)
    learner = coevo.BayesianNetworkLearner(method="cooling:Annealing:moves=10", max_generations=3)
    assert learner.fit(rows).result_.search.method == "annealing"
