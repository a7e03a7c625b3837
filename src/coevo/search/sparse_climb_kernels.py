"""The kernel that chooses moves of a hill climbing among the candidates of each child."""

from __future__ import annotations

import numpy as np

from coevo.jit import INT, array_of, kernel, part

__all__ = ["ADD", "DELETE", "REVERSE", "choose_moves"]

DELETE, ADD, REVERSE = 0, 1, 2  # the order of equally good moves

NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
PLACES = array_of(np.int64, 2, True)
CANDIDATES, FLAGS = array_of(np.int32, 2, True), array_of(np.bool_, 2)


@part
def _is_ancestor(candidates, is_parent, ancestor, variable, seen, waiting, mark):
    """Return whether there is a path from `ancestor` to `variable`.

    ``seen[v] == mark`` says that v was visited in this call.
    """
    n_waiting = 1
    waiting[0] = variable
    seen[variable] = mark
    found = False
    while n_waiting > 0 and not found:
        n_waiting -= 1
        v = waiting[n_waiting]
        for k in range(candidates.shape[1]):
            if is_parent[v, k]:
                parent = np.int64(candidates[v, k])
                if parent == ancestor:
                    found = True
                    break
                if seen[parent] != mark:
                    seen[parent] = mark
                    waiting[n_waiting] = parent
                    n_waiting += 1
    return found


@kernel((CANDIDATES, PLACES, READ_NUMBERS, INT, FLAGS, array_of(np.bool_), NUMBERS, NUMBERS))
def choose_moves(candidates, reverse_of, ranked, n_moves, is_parent, changed, seen, waiting):
    """Make the first `n_moves` legal moves of a ranked list; return how many there were.

    A move is ``(kind * n + child) * k + place``: the candidate at this place of the row of the
    child is added, deleted, or becomes a child instead. ``reverse_of[child, place]`` is the place
    of the child in the row of its candidate. A child changes at most once, because its gains are
    old after that. `is_parent` and `changed` are updated; `seen` (zeros) and `waiting` are scratch.
    """
    n, k = candidates.shape
    n_made = 0
    for i in range(len(ranked)):
        if n_made >= n_moves:
            break
        place = ranked[i] % k
        child = (ranked[i] // k) % n
        kind = ranked[i] // (k * n)
        other = np.int64(candidates[child, place])
        if changed[child] or (kind == REVERSE and changed[other]):
            continue
        mark = np.int64(i + 1)
        if kind == DELETE:
            is_parent[child, place] = False
        elif kind == ADD:
            if _is_ancestor(candidates, is_parent, child, other, seen, waiting, mark):
                continue
            is_parent[child, place] = True
        else:
            is_parent[child, place] = False
            if _is_ancestor(candidates, is_parent, other, child, seen, waiting, mark):
                is_parent[child, place] = True
                continue
            is_parent[other, reverse_of[child, place]] = True
            changed[other] = True
        changed[child] = True
        n_made += 1
    return n_made
