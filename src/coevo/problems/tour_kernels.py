"""The compiled part of tours: measure them, and climb by 2-opt and or-opt.

A tour is a permutation of the cities. It is a cycle: the first city follows the last one. The
distances are symmetric. Kernels never draw: random numbers come as arrays.

References
----------
J. L. Bentley (1992). Fast algorithms for geometric traveling salesman problems. ORSA Journal on
Computing 4, 387-411. (2-opt and or-opt with neighbour lists and a queue.)

O. Martin, S. W. Otto, E. W. Felten (1991). Large-step Markov chains for the traveling salesman
problem. Complex Systems 5, 299-326. (The double bridge.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coevo.jit import FLOAT, allocating_part, array_of, kernel, part

__all__ = ["climb_tours", "measure_tour"]

MAX_SEGMENT = 3  # cities that or-opt moves together
MAX_BRIDGE = 30  # cities of each segment that a double bridge exchanges


@part
def measure_tour(distances: Any, tour: Any) -> Any:
    """Return the length of a tour."""
    total = distances[tour[-1], tour[0]]
    for i in range(1, len(tour)):
        total += distances[tour[i - 1], tour[i]]
    return total


@part
def _reverse(tour: Any, place: Any, first: Any, last: Any) -> None:
    """Reverse the positions from `first` to `last`, or all others, whichever are fewer."""
    n = len(tour)
    size = (last - first) % n + 1
    if 2 * size > n:
        first, last, size = (last + 1) % n, (first - 1) % n, n - size
    for _ in range(size // 2):
        one, two = tour[first], tour[last]
        tour[first], tour[last] = two, one
        place[two], place[one] = first, last
        first = first + 1 if first + 1 < n else 0
        last = last - 1 if last > 0 else n - 1


@part
def _try_two_opt(distances: Any, row: Any, tour: Any, place: Any, city: Any, least: Any) -> Any:
    """Replace two edges of the tour if that is shorter, one of them at `city`.

    Return the place in the row of the new neighbour, or -1, the gain, and the other cities whose
    edges changed.
    """
    n = len(tour)
    for step in (1, -1):
        beside = tour[(place[city] + step) % n]
        for slot in range(len(row)):
            other = row[slot]
            gain = distances[city, beside] - distances[city, other]
            if gain <= least:
                break
            end = tour[(place[other] + step) % n]
            gain += distances[other, end] - distances[beside, end]
            if gain > least and other != beside:
                if step == 1:
                    _reverse(tour, place, place[beside], place[other])
                else:
                    _reverse(tour, place, place[other], place[beside])
                return slot, gain, (beside, other, end, city, city)
    return -1, 0.0, (city, city, city, city, city)


@part
def _move_segment(
    tour: Any, place: Any, segment: Any, first: Any, shift: Any, is_reversed: Any
) -> None:
    """Move the segment that starts at position `first` by `shift` positions, forwards or back."""
    n, size = len(tour), len(segment)
    step = 1 if shift > 0 else -1
    free = first if shift > 0 else (first + size - 1) % n
    for _ in range(abs(shift)):
        moved = tour[(free + step * size) % n]
        tour[free] = moved
        place[moved] = free
        free = (free + step) % n
    begin = (first + shift) % n
    for i in range(size):
        moved = segment[size - 1 - i] if is_reversed else segment[i]
        at = (begin + i) % n
        tour[at] = moved
        place[moved] = at


@allocating_part
def _try_or_opt(distances: Any, row: Any, tour: Any, place: Any, city: Any, least: Any) -> Any:
    """Move up to three cities that end with `city` beside a new neighbour, if that is shorter.

    Return as `_try_two_opt` does.
    """
    n = len(tour)
    for step in (1, -1):
        before = tour[(place[city] - step) % n]  # the city that `city` leaves
        for size in range(1, min(MAX_SEGMENT, n - 3) + 1):
            tail = tour[(place[city] + step * (size - 1)) % n]
            after = tour[(place[city] + step * size) % n]
            removed = distances[before, city] + distances[tail, after] - distances[before, after]
            for slot in range(len(row)):
                other = row[slot]
                gain = removed - distances[city, other]
                if gain <= least:
                    break
                offset = (step * (place[other] - place[city])) % n
                if offset < size:
                    continue  # it moves too
                for side in (step, -step):
                    end = tour[(place[other] + side) % n]
                    if (step * (place[end] - place[city])) % n < size:
                        continue
                    total = gain + distances[other, end] - distances[tail, end]
                    if total > least:
                        _apply_or_opt(tour, place, (city, size, step), (other, side))
                        return slot, total, (before, other, after, tail, end)
    return -1, 0.0, (city, city, city, city, city)


@allocating_part
def _apply_or_opt(tour: Any, place: Any, moved: Any, target: Any) -> None:
    """Move a segment into the edge from `other` to the city beside it, `city` next to `other`."""
    city, size, step = moved
    other, side = target
    n = len(tour)
    first = place[city] if step == 1 else (place[city] - size + 1) % n
    segment = np.empty(size, np.int64)
    for i in range(size):
        segment[i] = tour[(first + i) % n]
    # The segment goes into the edge (left, right), in the direction of growing positions.
    left = other if side == 1 else tour[(place[other] - 1) % n]
    forwards = (place[left] - first - size + 1) % n
    shift = forwards if 2 * forwards <= n - size else forwards - (n - size)
    # After a move forwards, `city` must come first if `other` is on its left.
    is_city_first = segment[0] == city
    is_reversed = is_city_first != (side == 1)
    _move_segment(tour, place, segment, first, shift, is_reversed)


@allocating_part
def _climb(
    distances: Any, rows: Any, path: Any, queue: Any, count: Any, credit: Any, least: Any
) -> Any:
    """Climb until the queue is empty; return the number of moves.

    `path` is the tour and the place of each city in it. `queue` holds the cities to try in its
    first row, and flags in its second one.
    """
    tour, place = path
    n = len(tour)
    head = n_moves = 0
    while count > 0:
        city = queue[0, head]
        head = head + 1 if head + 1 < n else 0
        count -= 1
        queue[1, city] = 0
        slot, gain, ends = _try_two_opt(distances, rows[city], tour, place, city, least)
        if slot < 0:
            slot, gain, ends = _try_or_opt(distances, rows[city], tour, place, city, least)
        if slot >= 0:
            n_moves += 1
            credit[city, slot] += gain
            for changed in (city, ends[0], ends[1], ends[2], ends[3], ends[4]):
                if queue[1, changed] == 0:
                    queue[1, changed] = 1
                    queue[0, (head + count) % n] = changed
                    count += 1
    return n_moves


@allocating_part
def _cross_bridge(tour: Any, place: Any, draws: Any, queue: Any) -> Any:
    """Exchange two adjacent segments (a double bridge); queue the six cities at their ends."""
    n = len(tour)
    longest = min(MAX_BRIDGE, max(1, n // 3))
    start = int(draws[0] * n)
    one = 1 + int(draws[1] * longest)
    two = 1 + int(draws[2] * longest)
    window = np.empty(one + two, np.int64)
    for i in range(one + two):
        window[i] = tour[(start + 1 + i) % n]
    for i in range(one + two):
        moved = window[(i + one) % (one + two)]
        at = (start + 1 + i) % n
        tour[at] = moved
        place[moved] = at
    count = 0
    for offset in (0, 1, two, two + 1, one + two, one + two + 1):
        city = tour[(start + offset) % n]
        if queue[1, city] == 0:
            queue[1, city] = 1
            queue[0, count] = city
            count += 1
    return count


@kernel(
    (
        array_of(np.float64, 2, is_read_only=True),
        array_of(np.int64, 2, is_read_only=True),
        array_of(np.int64, 2),
        array_of(np.float64),
        array_of(np.float64, 3, is_read_only=True),
        array_of(np.float64, 2),
        FLOAT,
    )
)
def climb_tours(
    distances: Any, rows: Any, tours: Any, lengths: Any, draws: Any, credit: Any, least: Any
) -> None:
    """Overwrite each tour with a shorter one: climb, then perturb and climb again and again.

    ``rows[c]`` are the neighbours of city c that moves may join it to, the nearest first. Tour t
    is perturbed by ``draws[t]``, three numbers each time; a longer tour is undone. The gains of
    all moves are added to the ``credit`` of the neighbours that they used. A smaller gain than
    `least` is round-off. Needs five cities.
    """
    n = tours.shape[1]
    place = np.empty(n, np.int64)
    old = np.empty(n, np.int64)
    queue = np.zeros((2, n), np.int64)
    for t in range(len(tours)):
        tour = tours[t]
        for i in range(n):
            place[tour[i]] = i
        n_moves = 1
        while n_moves > 0:  # a move may allow others at cities that left the queue
            for i in range(n):
                queue[0, i] = tour[i]
                queue[1, i] = 1
            n_moves = _climb(distances, rows, (tour, place), queue, n, credit, least)
        length = measure_tour(distances, tour)
        for k in range(draws.shape[1]):
            for i in range(n):
                old[i] = tour[i]
            count = _cross_bridge(tour, place, draws[t, k], queue)
            _climb(distances, rows, (tour, place), queue, count, credit, least)
            new = measure_tour(distances, tour)
            if new > length + least:
                for i in range(n):
                    tour[i] = old[i]
                    place[tour[i]] = i
            else:
                length = new
        lengths[t] = length
