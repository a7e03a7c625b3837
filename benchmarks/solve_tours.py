"""Time ``coevo solve tsp`` beside elkai (LKH) on the bundled tours.

Run it with ``python benchmarks/solve_tours.py``. elkai is optional (``pip install elkai``). The
seconds are CPU seconds of this process, the median of five runs. coevo does not know the optimum:
it runs until 25 generations bring no improvement. The third figure is the time until it found it.
"""

from __future__ import annotations

import statistics
import time

from coevo.problems import TOURS, open_tour, solve_tour

try:
    import elkai
except ImportError:
    elkai = None

RUNS = 5


def main() -> None:
    """Print one line an instance."""
    solve_tour("burma14", random_state=0)  # load the kernels
    print("instance  optimum  coevo  seconds  until found  elkai  seconds")
    for name, optimum in TOURS.items():
        problem = open_tour(name)
        lengths, seconds, found, peer_lengths, peer_seconds = [], [], [], [], []
        for seed in range(RUNS):
            began = time.process_time()
            result = solve_tour(problem, random_state=seed)
            seconds.append(time.process_time() - began)
            lengths.append(result.value)
            found.append(result.history[result.history[-1].improved].seconds)
            if elkai is not None:
                matrix = problem.distances.astype(int).tolist()
                began = time.process_time()
                tour = elkai.DistanceMatrix(matrix).solve_tsp()[:-1]
                peer_seconds.append(time.process_time() - began)
                peer_lengths.append(problem.measure(tour))
        line = f"{name:<9} {optimum:>7,}  {max(lengths):>5,.0f}  {statistics.median(seconds):>7.3f}"
        line += f"  {statistics.median(found):>11.3f}"
        if elkai is not None:
            peer = f"{max(peer_lengths):>5,.0f}  {statistics.median(peer_seconds):>7.3f}"
            line += f"  {peer}"
        print(line)


if __name__ == "__main__":
    main()
