"""Repeat the experiment of Potter and De Jong (1994): coevolution optimises functions.

One species evolves one variable of a function, as 16 bits. CCGA-1 scores an individual with the
best individual of every other species. CCGA-2 also tries a random one, and takes the better
score. The plain genetic algorithm evolves all variables in one string of bits.

Run it from the root of the repository: ``python examples/potter_de_jong.py``. It prints the mean
of the best value, which is to be minimised. Give a number of evaluations and a number of runs
for other budgets: ``python examples/potter_de_jong.py 100000 50`` is the budget of the paper.
"""

import sys

import numpy as np

from coevo.search import Cooperation, Species
from coevo.search.operators import flip_bits, two_point_crossover

BITS = 16
POWERS = 2.0 ** np.arange(BITS)[::-1]


def rastrigin(x):
    """Return a parabola with many local minima."""
    return 3.0 * x.shape[1] + (x**2 - 3 * np.cos(2 * np.pi * x)).sum(axis=1)


def schwefel(x):
    """Return a function whose minimum is near the edge."""
    return 418.9829 * x.shape[1] - (x * np.sin(np.sqrt(np.abs(x)))).sum(axis=1)


def griewangk(x):
    """Return a parabola with waves; the variables interact weakly."""
    roots = np.sqrt(np.arange(1, x.shape[1] + 1))
    return 1 + (x**2).sum(axis=1) / 4000 - np.cos(x / roots).prod(axis=1)


def ackley(x):
    """Return a funnel with many local minima."""
    distance = np.sqrt((x**2).mean(axis=1))
    waves = np.cos(2 * np.pi * x).mean(axis=1)
    return 20 + np.e - 20 * np.exp(-0.2 * distance) - np.exp(waves)


def rosenbrock(x):
    """Return a curved valley: the two variables depend on each other."""
    return 100 * (x[:, 0] ** 2 - x[:, 1]) ** 2 + (1 - x[:, 0]) ** 2


# function, number of variables, limit of each variable; all minima are 0
FUNCTIONS = {
    "Rastrigin": (rastrigin, 20, 5.12),
    "Schwefel": (schwefel, 10, 500.0),
    "Griewangk": (griewangk, 10, 600.0),
    "Ackley": (ackley, 30, 30.0),
    "Rosenbrock": (rosenbrock, 2, 2.048),
}
# species for each variable or one for all, random partners
ALGORITHMS = {"plain GA": (False, 0), "CCGA-1": (True, 0), "CCGA-2": (True, 1)}


def make_species(n_bits):
    """Return a species of strings of bits, with the operators of the paper."""
    return Species(
        draw=lambda rng, size: rng.random((size, n_bits)) < 0.5,
        cross=lambda rng, one, two: two_point_crossover(rng, one, two, 0.6),
        mutate=lambda rng, children: flip_bits(rng, children, 1 / n_bits),
    )


def minimise(function_name, algorithm, evaluations, seed):
    """Return (evaluations, best value so far) after each turn of a species."""
    function, n_variables, limit = FUNCTIONS[function_name]
    is_split, random_partners = ALGORITHMS[algorithm]
    n_species = n_variables if is_split else 1
    species = [make_species(BITS * n_variables // n_species)] * n_species

    def evaluate(pools, chosen):
        # Each individual is decoded once, each solution is put together from the numbers.
        numbers = [pool.reshape(len(pool), -1, BITS) @ POWERS for pool in pools]
        x = np.concatenate([one[row] for one, row in zip(numbers, chosen, strict=True)], axis=1)
        return -function(x * (2 * limit / (2**BITS - 1)) - limit)

    # As in the paper, the elite is scored again, and one species evolves after the other.
    cooperation = Cooperation(
        species, evaluate, population=100, random_partners=random_partners, rescore_elite=True
    )
    rng = np.random.default_rng(seed)
    generation = cooperation.start(rng)
    used, best = generation.n_solutions, -generation.best_score
    curve = [(used, best)]
    while used < evaluations:
        for turn in range(n_species):
            generation = cooperation.step(rng, generation.populations, generation.scores, [turn])
            used += generation.n_solutions
            best = min(best, -generation.best_score)
            curve.append((used, best))
    return [point for point in curve if point[0] <= evaluations]


if __name__ == "__main__":
    evaluations, runs = map(int, sys.argv[1:3] if len(sys.argv) > 2 else (10_000, 5))
    print(f"{evaluations:,} evaluations, mean of {runs} runs; the minimum is 0")
    print(f"{'function':<10}" + "".join(f"{name:>12}" for name in ALGORITHMS))
    winners = {}
    for function_name in FUNCTIONS:
        means = {
            name: np.mean(
                [minimise(function_name, name, evaluations, seed)[-1][1] for seed in range(runs)]
            )
            for name in ALGORITHMS
        }
        print(f"{function_name:<10}" + "".join(f"{mean:>12.4f}" for mean in means.values()))
        winners[function_name] = min(means, key=means.get)
    for function_name, winner in winners.items():
        print(f"{function_name}: {winner} is best")
