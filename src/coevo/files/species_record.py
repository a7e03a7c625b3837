"""What a summary of the species must hold that comes from a file.

`coevo.search.species` makes these summaries. Events of the studio and run.json hold them, and a
person may have edited these files. Parts that older versions do not write may be absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = ["are_masks", "are_orders", "is_list_of", "is_number", "is_row", "is_summary", "is_work"]


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_list_of(value: Any, is_one: Callable[[Any], bool], n: int | None = None) -> bool:
    """Return whether a value is a list (of `n` parts) whose parts have a property."""
    return isinstance(value, list) and n in (None, len(value)) and all(map(is_one, value))


def _has_numbers(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and all(is_number(value.get(name)) for name in names)


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def are_orders(value: Any) -> bool:
    """Return whether a value is the summary of orders."""
    lists = ("best", "low", "high", "mean")
    return (
        _has_numbers(value, "n", "agreement")
        and all(is_list_of(value.get(key), is_number) for key in lists)
        and len({len(value[key]) for key in lists}) == 1
    )


def are_masks(value: Any) -> bool:
    """Return whether a value is the summary of masks, or None."""
    return value is None or (
        _has_numbers(value, "n", "agreement", "n_pairs", "n_common")
        and is_list_of(value.get("pairs"), lambda pair: is_list_of(pair, is_number, 3))
    )


def is_work(value: Any) -> bool:
    """Return whether a value is the summary of the work of masks, or None."""
    if value is None:
        return True

    def is_mask(mask: Any) -> bool:
        return _has_numbers(mask, "credit", "families", "nats") and all(
            isinstance(mask.get(key), str) for key in ("name", "meaning")
        )

    def is_child(row: Any) -> bool:
        return is_list_of(row, is_number, 3) and _is_index(row[0])

    def is_paid(row: Any) -> bool:
        return is_list_of(row, is_number, 4) and _is_index(row[0]) and _is_index(row[1])

    totals = ("families", "nats", "n_children", "n_earning", "families_of_earning")
    return (
        _has_numbers(value, *totals)
        and is_list_of(value.get("masks"), is_mask)
        and is_list_of(value.get("children"), is_child)
        and is_list_of(value.get("busiest"), is_child)
        and is_list_of(value.get("paid"), is_paid)
    )


def is_row(value: Any) -> bool:
    """Return whether a value is a row of a mask, or None."""
    if value is None:
        return True
    if not isinstance(value, dict) or not isinstance(value.get("mask"), str):
        return False
    candidates: Any = value.get("candidates")
    values = value.get("values")
    return (
        _is_index(value.get("child"))
        and is_list_of(candidates, _is_index)
        and (values is None or is_list_of(values, is_number, len(candidates)))
    )


def is_summary(value: Any) -> bool:
    """Return whether a value is a complete summary with the names of its variables."""
    if not isinstance(value, dict):
        return False
    names: Any = value.get("variables")
    orders: Any = value.get("orders")
    masks, work, row = value.get("masks"), value.get("work"), value.get("row")
    if not (is_list_of(names, lambda name: isinstance(name, str)) and are_orders(orders)):
        return False
    if not (are_masks(masks) and is_work(work) and is_row(row)):
        return False
    used = [pair[:2] for pair in (masks or {}).get("pairs", ())]
    if work is not None:
        used += [pair[:2] for pair in work["paid"]]
        used += [[child] for child, *_ in work["children"] + work["busiest"]]
    if row is not None:
        used.append([row["child"], *row["candidates"]])
    n = len(names)
    return len(orders["best"]) == n and all(
        _is_index(number) and number < n for numbers in used for number in numbers
    )
