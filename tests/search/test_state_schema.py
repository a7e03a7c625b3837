"""A forged state is refused, or it is harmless: it never reads memory that is not its own."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

from coevo.errors import CoevoError, FormatError, ParameterError
from coevo.search import (
    METHODS,
    Budget,
    IslandsState,
    SearchState,
    make_method,
    read_state,
    run_search,
    write_state,
)
from coevo.search.base import (
    FINITE,
    LARGEST_SCORE,
    OFFSETS,
    SCORES,
    find_flaw,
    is_acyclic,
)
from helpers.problems import collect_states, make_problem, random_table

N_FORGERIES = int(os.environ.get("COEVO_FUZZ") or 60)  # for each method
SMALL = {name: {"population": 4} for name in ("ccga", "ga", "mdlep", "wong")}


def method_of(name, names):
    settings = dict(SMALL.get(name, {}))
    if name == "k2ga":
        settings = {"population": 4, "offspring": 2}
    if name in ("tan", "naive_bayes"):
        settings = {"class_variable": names[1]}
    return make_method(name, "test", **settings)


def make_states(name, seed, n_variables=6):
    problem = make_problem(random_table(seed, n_variables))
    method = method_of(name, problem.names)
    return method, problem, collect_states(method, problem, seed, 4)


@pytest.mark.parametrize("name", METHODS)
def test_every_field_is_declared(name):
    declared = METHODS[name].state_type
    names = {field.name for field in dataclasses.fields(declared)}
    assert set(declared.schema) == names - ({"islands"} if declared is IslandsState else set())


@pytest.mark.parametrize("n_variables", [1, 2, 6])
@pytest.mark.parametrize("name", METHODS)
def test_states_of_a_search_have_no_flaw(name, n_variables, seed):
    if n_variables == 1 and name in ("tan", "naive_bayes"):
        pytest.skip("there is no class variable")
    _, _, states = make_states(name, seed, n_variables)
    assert [find_flaw(state) for state in states] == [""] * len(states)


def forge_array(array, rng):
    """Return an array with another type, another shape or other values."""
    kind = rng.integers(8)
    if kind == 0:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(["f8", "i8", "i4", "u1", "?", "f4", ">i8"]))
    if kind == 1:
        return array[: rng.integers(len(array) + 1)] if array.ndim else array
    if kind == 2:
        return np.concatenate([array, array]) if array.ndim else array
    if kind == 3:
        return array.T if array.ndim > 1 else array.reshape(-1, 1)
    forged = array.copy()
    if not forged.size:
        return np.zeros((3,) * max(1, array.ndim), dtype=array.dtype)
    at = rng.integers(forged.size, size=rng.integers(1, 4))
    numbers = [-1, 1, 0, 7, 10**9, -(10**9), 2**31 - 1, len(array) if array.ndim else 3]
    if forged.dtype.kind == "f":
        numbers = [np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0]
    with np.errstate(all="ignore"):
        forged.reshape(-1)[at] = np.array(rng.choice(numbers, len(at))).astype(forged.dtype)
    return forged


def forge(state, rng):
    """Return a state with one forged field."""
    field = rng.choice([field.name for field in dataclasses.fields(state)])
    value = getattr(state, field)
    if isinstance(value, np.ndarray):
        return dataclasses.replace(state, **{field: forge_array(value, rng)})
    if isinstance(value, tuple):
        parts = tuple(forge(part, rng) if rng.random() < 0.5 else part for part in value)
        return dataclasses.replace(state, **{field: parts[: rng.integers(len(parts) + 1)]})
    other = rng.choice([-1, 0, 1, 2, 3, 10**6, 2**62, -5]).item()
    choices = [other, float(other), bool(other), np.nan, np.inf, "x"]
    return dataclasses.replace(state, **{field: choices[rng.integers(len(choices))]})


@pytest.mark.parametrize("name", METHODS)
def test_a_forged_file_is_refused_or_harmless(name, seed, tmp_path):
    """If nobody checked, an index beyond an array would be a segmentation fault."""
    path = tmp_path / "state.npz"
    method, problem, states = make_states(name, seed)
    rng = np.random.default_rng([seed, sum(name.encode())])
    n_refused = 0
    for _ in range(N_FORGERIES):
        forged = forge(states[rng.integers(len(states))], rng)
        if rng.random() < 0.3:
            forged = forge(forged, rng)
        generation = forged.generation if isinstance(forged.generation, int) else 0
        limit = Budget(max_generations=max(0, generation) + 2, max_time=5)
        write_state(forged, path)  # its digest is right
        try:
            state = read_state(path, type(forged))
            run_search(method, problem.scorer, budget=limit, random_state=seed, state=state)
        except CoevoError:
            n_refused += 1
    assert n_refused > N_FORGERIES / 4


@pytest.mark.parametrize(
    ("name", "field", "value", "flaw"),
    [
        ("k2", "order", np.zeros(6, dtype=np.int64), "'order' must hold permutations"),
        ("k2", "order", np.zeros(5, dtype=np.int64), "'order' must have the shape (n)"),
        ("k2", "order", np.arange(6.0), "'order' must be an array of int64 with 1 axes"),
        ("k2", "growing", True, "'growing' must be an array of bool with 1 axes"),
        ("k2", "growing", np.full(6, 2, "u1").view("?"), "'growing' must hold bytes 0 and 1"),
        ("hill_climb", "adjacency", np.eye(6, dtype=bool), "'adjacency' must hold no cycle"),
        ("hill_climb", "gains", np.full((6, 6), np.nan), "'gains' must hold scores"),
        ("hill_climb", "score", np.nan, "'score' must be a score"),
        ("hill_climb", "generation", -1, "'generation' must be an int >= 0"),
        ("hill_climb", "at_top", 1, "'at_top' must be True or False"),
        ("hill_climb", "improved", 99, "'improved' must not be above 'generation'"),
        ("chow_liu", "n_scored", 7, "'n_scored' must be an int >= 0 and <= 6"),
        ("pc", "p_values", np.full((6, 6), 2.0), "'p_values' must hold numbers >= 0 and <= 1"),
        (
            "ccma",
            "parents",
            np.full(1, 10**6, dtype=np.int32),
            "'parents' must hold numbers >= 0 and below n",
        ),
    ],
)
def test_flaws_in_words(name, field, value, flaw, seed, tmp_path):
    method, problem, states = make_states(name, seed)
    forged = dataclasses.replace(states[-1], **{field: value})
    with pytest.raises(ParameterError) as caught:
        run_search(method, problem.scorer, random_state=seed, state=forged)
    assert str(caught.value) == f"The state is damaged: {flaw}. Start a new search."
    path = tmp_path / "state.npz"
    write_state(forged, path)  # with a digest that is right
    with pytest.raises(FormatError) as refused:
        read_state(path, type(forged))
    assert str(refused.value) == f"{str(path)!r} is damaged: {flaw}. Start a new search."


def test_one_changed_value_is_damage(seed, tmp_path):
    """The archive itself is intact: somebody has written it again."""
    path = tmp_path / "state.npz"
    state = make_states("k2", seed)[2][-1]
    write_state(state, path)
    with np.load(path) as archive:
        entries = {name: archive[name] for name in archive.files}
    entries["local"][0] += 1e-9
    np.savez(path, **entries)
    with pytest.raises(FormatError) as caught:
        read_state(path, type(state))
    assert str(caught.value) == (
        f"{str(path)!r} is damaged: its content does not match its digest. Start a new search."
    )
    del entries["digest"]
    np.savez(path, **entries)
    with pytest.raises(FormatError, match="is not the state of a search"):
        read_state(path, type(state))


def test_columns_of_a_file_may_be_in_another_order_in_memory(seed, tmp_path):
    path = tmp_path / "state.npz"
    state = make_states("hill_climb", seed)[2][-1]
    write_state(dataclasses.replace(state, gains=np.asfortranarray(state.gains)), path)
    assert read_state(path, type(state)).gains.flags.c_contiguous


def test_is_acyclic_matches_the_powers_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        graph = rng.random((5, 5)) < 0.2
        walks = sum(np.linalg.matrix_power(graph.astype(int), k) for k in range(1, 6))
        assert is_acyclic(graph) == (not walks.diagonal().any())


def test_a_type_without_declarations_is_not_checked():
    @dataclasses.dataclass(frozen=True)
    class Own(SearchState):
        notes: object

    own = Own(0, 0, 0, -1.0, np.zeros((2, 2), dtype=bool), notes="any")
    assert find_flaw(own) == ""
    assert find_flaw(dataclasses.replace(own, score=np.inf)) == "'score' must be a score"


@pytest.mark.parametrize(
    ("values", "holds"), [([0, 2, 2, 5], True), ([0, 2, 1, 5], False), ([1, 2], False), ([], False)]
)
def test_offsets_never_descend(values, holds):
    assert bool(OFFSETS.holds(np.array(values, dtype=np.int64), {})) is holds


@pytest.mark.parametrize(
    ("value", "is_score", "is_finite"),
    [
        (LARGEST_SCORE, True, True),
        (-LARGEST_SCORE, True, True),
        (np.nextafter(LARGEST_SCORE, np.inf), False, False),
        (np.nextafter(-LARGEST_SCORE, -np.inf), False, False),
        (-np.inf, True, False),
        (np.inf, False, False),
        (np.nan, False, False),
    ],
)
def test_the_range_of_scores(value, is_score, is_finite):
    values = np.array([0.0, value])
    assert SCORES.holds(values, {}) is is_score
    assert FINITE.holds(values, {}) is is_finite
