"""State files are complete, contain no pickle, and are refused where they do not fit."""

import contextlib
import dataclasses

import numpy as np
import pytest

from coevo.errors import FileError, FormatError, ParameterError
from coevo.graph import Constraints
from coevo.score import FamilyScorer
from coevo.search import (
    CCGA,
    K2,
    Budget,
    CCGAState,
    SearchState,
    read_state,
    run_search,
    write_state,
)
from helpers.problems import collect_states, find_differing_fields, make_problem, random_table

METHODS = [CCGA(population=4), K2()]


@pytest.fixture(params=METHODS, ids=lambda method: method.name)
def method(request):
    return request.param


def make_state(method, seed, n_variables=5):
    return collect_states(method, make_problem(random_table(seed, n_variables)), seed, 2)[-1]


@pytest.mark.parametrize("n_variables", [1, 2, 5])
def test_a_written_state_is_read_back(method, n_variables, seed, tmp_path):
    state = make_state(method, seed, n_variables)
    write_state(state, tmp_path / "state.npz")
    assert not find_differing_fields(read_state(tmp_path / "state.npz", method.state_type), state)
    assert not find_differing_fields(read_state(str(tmp_path / "state.npz"), type(state)), state)


def test_nothing_is_pickled(method, seed, tmp_path):
    write_state(make_state(method, seed), tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz", allow_pickle=False) as entries:
        names = {field.name for field in dataclasses.fields(method.state_type)}
        assert set(entries) == {"kind", "digest", *names}
        assert all(entries[name].dtype.kind in "biufU" for name in entries)
        assert str(entries["kind"]) == method.state_type.__name__


def test_a_state_that_needs_pickle_is_refused(tmp_path):
    odd = SearchState(0, 0, 0, {"a": 1}, np.zeros((2, 2), dtype=bool))
    with pytest.raises(ValueError, match="holds objects, which cannot be stored without a pickle"):
        write_state(odd, tmp_path / "state.npz")
    assert list(tmp_path.iterdir()) == []  # no partial file remains


def test_an_existing_file_is_replaced(method, seed, tmp_path):
    path = tmp_path / "state.npz"
    path.write_text("something else")
    state = make_state(method, seed)
    write_state(state, path)
    assert list(tmp_path.iterdir()) == [path]
    assert not find_differing_fields(read_state(path, method.state_type), state)


def read_error(path, kind=CCGAState):
    with pytest.raises((FileError, FormatError)) as caught:
        read_state(path, kind)
    return str(caught.value).replace(str(path), "state.npz")


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04", b"score,arcs\n1,2\n", b"\x80\x04\x95", b"\x93NUMPY", bytes(100)],
    ids=["empty", "zip signature", "text", "pickle", "npy signature", "zeros"],
)
def test_files_that_are_no_state(content, tmp_path):
    (tmp_path / "state.npz").write_bytes(content)
    assert read_error(tmp_path / "state.npz") == "'state.npz' is not the state of a search."


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file(share, method, seed, tmp_path):
    path = tmp_path / "state.npz"
    write_state(make_state(method, seed), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert read_error(path, method.state_type) == "'state.npz' is not the state of a search."


@pytest.mark.parametrize(
    "entries",
    [{}, {"score": 1.0}, {"kind": "CCGAState"}, {"kind": "CCGAState", "generation": 3}],
    ids=["none", "no kind", "a kind alone", "one field"],
)
def test_an_npz_file_with_missing_entries(entries, tmp_path):
    np.savez(tmp_path / "state.npz", **entries)
    assert read_error(tmp_path / "state.npz") == "'state.npz' is not the state of a search."


def test_an_npz_file_with_a_pickle(tmp_path):
    np.savez(tmp_path / "state.npz", kind=np.array([print], dtype=object))
    assert read_error(tmp_path / "state.npz") == "'state.npz' is not the state of a search."


def test_missing_files(tmp_path, seed):
    assert read_error(tmp_path / "state.npz") == "There is no file 'state.npz'."
    write_state(make_state(K2(), seed), tmp_path / "states.npz")
    assert read_error(tmp_path / "state.npz") == (
        "There is no file 'state.npz'. Did you mean 'states.npz'?"
    )
    assert read_error(tmp_path) == "'state.npz' is a folder. Name a file in it."
    folder = tmp_path / "none"
    with pytest.raises(FileError) as caught:
        write_state(make_state(K2(), seed), folder / "state.npz")
    assert str(caught.value) == (
        f"{str(folder / 'state.npz')!r} cannot be written: there is no folder {str(folder)!r}."
    )


@pytest.mark.parametrize(
    ("state_from", "n_variables", "known", "message"),
    [
        (
            K2(),
            5,
            None,
            "The state is a K2State, which 'ccga' cannot resume. Resume with the method that "
            "made it.",
        ),
        (
            CCGA(population=4),
            4,
            None,
            "The state has 4 variables, and the data have 5. Resume with the data that it was "
            "made from.",
        ),
        (
            CCGA(population=4),
            5,
            Constraints(required=[("v000", "v001"), ("v001", "v002"), ("v003", "v002")]),
            "The state breaks the constraints. Start a new search.",
        ),
    ],
    ids=["method", "variables", "constraints"],
)
def test_states_that_cannot_be_resumed(state_from, n_variables, known, message, seed):
    tabu = Constraints(forbidden=[("v000", "v001")])  # no state can satisfy all of `known`
    problem = make_problem(random_table(seed, n_variables), "k2", tabu)
    state = collect_states(state_from, problem, seed, 2)[-1]
    with pytest.raises(ParameterError) as caught:
        run_search(
            CCGA(population=4), FamilyScorer(random_table(seed, 5)), constraints=known, state=state
        )
    assert str(caught.value) == message


def test_a_state_at_the_limit_stays_unchanged(method, seed):
    problem = make_problem(random_table(seed))
    state = collect_states(method, problem, seed, 1)[-1]
    budget = Budget(max_generations=1)
    found = run_search(method, problem.scorer, budget=budget, random_state=seed, state=state)
    assert found.state is state
    assert found.history == ()
    assert (found.generations, found.evaluations) == (1, state.evaluations)
    assert found.dag == problem.make_dag(state.adjacency)
    assert found.score == state.score


def test_the_state_of_another_method_is_named(seed, tmp_path):
    write_state(make_state(K2(), seed), tmp_path / "state.npz")
    with pytest.raises(FormatError) as caught:
        read_state(tmp_path / "state.npz", CCGAState)
    path = str(tmp_path / "state.npz")
    assert str(caught.value) == f"{path!r} holds a K2State, not a CCGAState."


@pytest.mark.parametrize("population", [5, 100])
def test_a_state_of_another_population_is_refused(population, seed):
    scorer = FamilyScorer(random_table(seed), "k2")
    state = run_search(
        CCGA(population=12), scorer, budget=Budget(max_generations=2), random_state=seed
    ).state
    with pytest.raises(ParameterError) as caught:
        run_search(CCGA(population=population), scorer, random_state=seed, state=state)
    assert str(caught.value) == (
        "The state was made by 'ccga' with other settings. Resume with the same settings."
    )


def test_a_damaged_file_is_never_a_crash(seed, tmp_path):
    path = tmp_path / "state.npz"
    write_state(make_state(CCGA(population=4), seed), path)
    intact = path.read_bytes()
    rng = np.random.default_rng(seed)
    for _ in range(200):
        damaged = bytearray(intact)
        for place in rng.integers(len(intact), size=3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged[: rng.integers(1, len(intact) + 1)])
        with contextlib.suppress(FormatError):  # some damage is harmless
            read_state(path, CCGAState)
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(FormatError):
        read_state(tmp_path / "array.npy", CCGAState)
