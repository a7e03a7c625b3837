"""Names as people type them: case and hyphens, slips, and lists with commas."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coevo
from coevo.cli import COMMANDS
from coevo.errors import ParameterError
from coevo.names import announce_readings, find_slip, match_name, split_items
from coevo.score import SCORES, make_score
from coevo.search import METHODS, make_method


@pytest.mark.parametrize("name", [*METHODS, "HILL_CLIMB", "hill-climb", "HillClimb", "CCMA"])
def test_methods_in_any_case(name):
    plain = {"HILL_CLIMB": "hill_climb", "hill-climb": "hill_climb", "HillClimb": "hill_climb"}
    assert make_method(name, "x").name == plain.get(name, name.lower())


@pytest.mark.parametrize("name", [*SCORES, "bde"])
def test_scores_in_any_case(name):
    assert make_score(name.upper()) == make_score(name.title()) == make_score(name)


def test_networks_in_any_case():
    assert coevo.load_network("Asia").name == coevo.open_network("ASIA").name == "asia"
    assert coevo.open_structure("Asia") == coevo.load_network("asia").dag


def test_an_exact_name_has_precedence_and_two_matches_are_none():
    assert match_name("A-b", ["a_b", "A-b"]) == "A-b"
    assert match_name("ab", ["a_b", "A-b"]) is None
    assert match_name(3, ["3"]) is None


def test_readings_are_announced_once_and_only_inside():
    said = []
    with announce_readings(said.append):
        for name in ("BIC", "BIC", "bic", "Bic"):
            make_score(name)
    make_score("bIC")
    assert said == ["Reading 'BIC' as 'bic'.", "Reading 'Bic' as 'bic'."]


def test_wrong_names_keep_their_message():
    with pytest.raises(ParameterError) as caught:
        make_score("BICC", owner="learn")
    assert str(caught.value) == (
        "'score' of learn must be one of 'aic', 'bde', 'bdeu', 'bds', 'bic', 'fnml', 'k2', "
        "'loglik', 'qnml'; got 'BICC'. Did you mean 'bic'?"
    )


def list_slips(word):
    """Return all words that differ from one by one slip."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    for i in range(len(word) + 1):
        yield from (word[:i] + letter + word[i:] for letter in letters)
        if i < len(word):
            yield word[:i] + word[i + 1 :]
            yield from (word[:i] + letter + word[i + 1 :] for letter in letters)
            yield word[:i] + word[i : i + 2][::-1] + word[i + 2 :]


def test_every_slip_in_a_command_is_found_and_nothing_else():
    near = {name: set(list_slips(name)) for name in COMMANDS}
    for word in set().union(*near.values()):
        meant = [name for name in COMMANDS if word in near[name]]
        expected = meant[0] if len(meant) == 1 and len(word) >= 4 else None
        assert find_slip(word, COMMANDS) == expected
    for one, other in itertools.permutations(COMMANDS, 2):
        assert other not in near[one]  # no command is a slip of another one


@given(st.lists(st.sampled_from(["a", "b", "a,b", ",", "b,", ""]), min_size=1, max_size=4))
def test_every_list_of_known_items_can_be_split(items):
    known = ["a", "b", "a,b", ",", "b,", ""]
    text = ",".join(items)
    found = split_items(text, known)
    assert found is not None
    assert ",".join(found) == text
    assert set(found) <= set(known)
