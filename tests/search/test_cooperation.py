"""Cooperation: any number of species, compared with a direct computation."""

import itertools

import numpy as np
import pytest

import naive
from coevo.errors import ParameterError
from coevo.runtime.randomness import random_stream
from coevo.search import Cooperation, Species
from coevo.search.operators import flip_bits, two_point_crossover

LENGTH = 6


class Watched:
    """Species of bits that remember their children, and a score that no part decides alone."""

    def __init__(self, n_species, seed):
        self.children = {}
        self.n_evaluated = 0
        self.weights = np.random.default_rng(seed).normal(size=(n_species, n_species, LENGTH))
        self.species = [self._make_species(own) for own in range(n_species)]

    def _make_species(self, own):
        def mutate(rng, crossed):
            self.children[own] = flip_bits(rng, crossed, 0.2)
            return self.children[own]

        return Species(
            draw=lambda rng, size: rng.random((size, LENGTH)) < 0.5,
            cross=lambda rng, one, two: two_point_crossover(rng, one, two, 0.6),
            mutate=mutate,
        )

    def score(self, parts):
        """Return the score of one solution: each pair of species interacts."""
        pairs = itertools.product(range(len(parts)), repeat=2)
        return float(sum(self.weights[i, j] @ (parts[i] ^ parts[j]) for i, j in pairs)) + float(
            sum(self.weights[i, i] @ part for i, part in enumerate(parts))
        )

    def evaluate(self, pools, chosen):
        self.n_evaluated += chosen.shape[1]
        return np.array(
            [self.score([p[i] for p, i in zip(pools, one, strict=True)]) for one in chosen.T]
        )


def make(n_species, seed, **options):
    watched = Watched(n_species, seed)
    return watched, Cooperation(watched.species, watched.evaluate, **options)


@pytest.mark.parametrize("n_species", [1, 2, 3, 5])
@pytest.mark.parametrize("population", [2, 7, 10])
def test_with_the_best_partners_the_children_determine_the_next_generation(
    n_species, population, seed
):
    watched, cooperation = make(n_species, seed, population=population, random_partners=0)
    before = cooperation.start(random_stream(seed, 0))
    for generation in range(1, 6):
        after = cooperation.step(random_stream(seed, generation), before.populations, before.scores)
        best = [p[s.argmax()] for p, s in zip(before.populations, before.scores, strict=True)]
        tried = []
        for own, children in watched.children.items():
            earned = [watched.score([*best[:own], c, *best[own + 1 :]]) for c in children]
            tried += earned
            expected = naive.next_population(
                list(before.populations[own]), before.scores[own].tolist(), list(children), earned
            )
            assert np.array_equal(after.populations[own], [one for one, _ in expected])
            assert after.scores[own].tolist() == pytest.approx([score for _, score in expected])
        assert after.best_score == pytest.approx(max(tried))
        assert watched.score(after.best) == pytest.approx(after.best_score)
        assert after.n_solutions == n_species * population
        before = after


@pytest.mark.parametrize("random_partners", [1, 3])
def test_the_credit_is_the_highest_score_with_the_best_and_random_partners(random_partners, seed):
    size = 4
    watched, cooperation = make(3, seed, population=size, random_partners=random_partners)
    before = cooperation.start(random_stream(seed, 0))
    n_better = 0
    for generation in range(1, 9):
        after = cooperation.step(random_stream(seed, generation), before.populations, before.scores)
        best = [p[s.argmax()] for p, s in zip(before.populations, before.scores, strict=True)]
        for own in range(3):
            others = [list(p) for i, p in enumerate(before.populations) if i != own]
            elite = before.populations[own][before.scores[own].argmax()]
            assert np.array_equal(after.populations[own][0], elite)
            new = zip(after.populations[own][1:], after.scores[own][1:], strict=True)
            for child, credit in new:
                with_best = watched.score([*best[:own], child, *best[own + 1 :]])
                possible = [
                    watched.score([*pair[:own], child, *pair[own:]])
                    for pair in itertools.product(*others)
                ]
                assert credit >= with_best - 1e-12
                assert min(abs(credit - score) for score in [with_best, *possible]) < 1e-9
                n_better += credit > with_best + 1e-9
        assert after.n_solutions == 3 * size * (1 + random_partners)
        before = after
    assert n_better > 0


def test_the_start_scores_everyone_with_random_partners(seed):
    watched, cooperation = make(3, seed, population=5)
    given = [np.arange(LENGTH) % 2 == 0, np.ones(LENGTH, bool), np.zeros(LENGTH, bool)]
    start = cooperation.start(random_stream(seed, 0), given)
    together = watched.score(given)
    for own in range(3):
        assert np.array_equal(start.populations[own][0], given[own])
        assert start.scores[own][0] == pytest.approx(together)
        others = [list(p) for i, p in enumerate(start.populations) if i != own]
        for individual, score in zip(start.populations[own], start.scores[own], strict=True):
            possible = [
                watched.score([*pair[:own], individual, *pair[own:]])
                for pair in itertools.product(*others)
            ]
            assert min(abs(score - one) for one in possible) < 1e-9
    assert start.n_solutions == watched.n_evaluated == 15
    assert start.best_score == max(scores.max() for scores in start.scores)


def test_species_can_take_turns(seed):
    watched, cooperation = make(3, seed, population=6)
    before = cooperation.start(random_stream(seed, 0))
    after = cooperation.step(random_stream(seed, 1), before.populations, before.scores, [1])
    assert list(watched.children) == [1]
    for own in (0, 2):
        assert after.populations[own] is before.populations[own]
        assert after.scores[own] is before.scores[own]
    assert not np.array_equal(after.populations[1], before.populations[1])
    assert after.n_solutions == 12
    everyone = cooperation.step(random_stream(seed, 1), before.populations, before.scores)
    assert np.array_equal(everyone.populations[1], after.populations[1])  # the same stream


def test_a_single_species_is_scored_once(seed):
    watched, cooperation = make(1, seed, population=6, random_partners=3)
    start = cooperation.start(random_stream(seed, 0))
    after = cooperation.step(random_stream(seed, 1), start.populations, start.scores)
    assert (start.n_solutions, after.n_solutions, watched.n_evaluated) == (6, 6, 12)


def test_rescoring_takes_the_best_partners(seed):
    watched, cooperation = make(3, seed, population=4)
    start = cooperation.start(random_stream(seed, 0))
    best = [p[s.argmax()] for p, s in zip(start.populations, start.scores, strict=True)]
    again = cooperation.rescore(start.populations, start.scores)
    for own in range(3):
        expected = [
            watched.score([*best[:own], one, *best[own + 1 :]]) for one in start.populations[own]
        ]
        assert again.scores[own].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"species": []}, "'species' of Cooperation must be one species or more; got []."),
        ({"population": 1}, "'population' of Cooperation must be an int >= 2; got 1."),
        (
            {"random_partners": -1},
            "'random_partners' of Cooperation must be an int >= 0; got -1.",
        ),
    ],
)
def test_bad_settings(wrong, message):
    watched = Watched(2, 0)
    settings = {"species": watched.species, "evaluate": watched.evaluate} | wrong
    with pytest.raises(ParameterError) as caught:
        Cooperation(settings.pop("species"), settings.pop("evaluate"), **settings)
    assert str(caught.value) == message


def test_the_elite_can_be_scored_again(seed):
    """With the best partner only, its new credit is the score of the best individuals."""
    watched, cooperation = make(3, seed, population=5, random_partners=0, rescore_elite=True)
    before = cooperation.start(random_stream(seed, 0))
    n_changed = 0
    for generation in range(1, 6):
        after = cooperation.step(random_stream(seed, generation), before.populations, before.scores)
        best = [p[s.argmax()] for p, s in zip(before.populations, before.scores, strict=True)]
        for own in range(3):
            assert np.array_equal(after.populations[own][0], best[own])
            assert after.scores[own][0] == pytest.approx(watched.score(best))
            n_changed += abs(after.scores[own][0] - before.scores[own].max()) > 1e-9
        assert after.n_solutions == 3 * 6
        before = after
    assert n_changed > 0


def test_an_elite_that_keeps_its_credit_can_block_its_species():
    """Its credit comes from partners that are gone, and no child reaches it."""

    def evaluate(pools, chosen):
        first, second = (pool[row, 0] for pool, row in zip(pools, chosen, strict=True))
        return np.where(first == second, 0.0, first + second)  # the start finds 3 + 2 = 5

    still = Species(
        draw=lambda rng, size: np.array([[3], [2]]),
        cross=lambda rng, one, two: (one, two),
        mutate=lambda rng, children: children,
    )
    populations, scores = (np.array([[3], [2]]),) * 2, (np.array([5.0, 1.0]),) * 2
    for rescore, expected in ((False, 5.0), (True, 0.0)):
        cooperation = Cooperation(
            [still, still], evaluate, population=2, random_partners=0, rescore_elite=rescore
        )
        after = cooperation.step(random_stream(0), populations, scores)
        assert [one[0] for one in after.scores] == [expected] * 2
