"""The answer of ``coevo inspect`` as text: a table of columns, decisions and problems.

Lines fit the width of the terminal. A terminal shows some characters in two cells, so widths are
counted in cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.view.inspection import InspectedColumn, TableInspection

__all__ = ["format_inspection", "format_sparkline"]

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = ".:-=+*#@"
MAX_NAME = 28
MIN_OUTCOME = 26  # characters for the outcome of a column
GAP = "  "


def format_inspection(
    inspection: TableInspection, width: int = 120, is_unicode: bool = True
) -> Iterator[str]:
    """Yield the lines of an inspection."""
    from coevo.view.inspection.page import format_share

    size = f"{format_count(inspection.n_rows, 'row')}, "
    size += format_count(inspection.n_columns, "column")
    missing = "no missing values"
    if inspection.n_missing:
        share = format_share(inspection.missing_share)
        missing = f"{format_count(inspection.n_missing, 'missing value')} ({share})"
    yield f"table       {inspection.source}: {size}, {missing}"
    counts = [f"{n:,} {kind}" for kind, n in inspection.count_kinds().items()]
    yield f"columns     {', '.join(counts)}"
    yield from _format_columns(inspection.columns, width, is_unicode)
    if inspection.decisions:
        yield f"decisions   {len(inspection.decisions):,}"
        yield from (f"  {decision}" for decision in inspection.decisions)
    yield f"problems    {len(inspection.findings) or 'none'}"
    yield from (f"  {finding.sentence}" for finding in inspection.findings)


def _format_columns(
    columns: Sequence[InspectedColumn], width: int, is_unicode: bool
) -> Iterator[str]:
    """Yield the table of columns, with a header."""
    from rich.cells import cell_len

    from coevo.view.inspection.page import format_share, shorten_middle

    dots = "…" if is_unicode else "..."
    rows = [["name", "type", "holds", "distinct", "missing"]]
    for column in columns:
        summary = column.summary
        numbers = ["", ""]
        if summary is not None:
            numbers = [f"{summary.n_distinct:,}", format_share(summary.missing_share)]
        name = shorten_middle(_clean(column.name), MAX_NAME, dots)
        rows.append([name, column.kind, column.info.holds, *numbers])
    widths = [max(cell_len(row[i]) for row in rows) for i in range(5)]
    shown = [0, 1, 2, 3, 4]
    if _measure(widths) + 10 + MIN_OUTCOME > width:
        shown.remove(2)  # a narrow terminal has no room for the kind of values
    used = _measure([widths[i] for i in shown])
    bars = 20 if used + 20 + len(GAP) + MIN_OUTCOME <= width else 10
    rest = max(MIN_OUTCOME, width - used - bars - len(GAP))
    sketches = ["values", *(_sketch_values(column, bars, is_unicode) for column in columns)]
    outcomes = ["becomes", *(_describe(column, rest, dots) for column in columns)]
    for row, sketch, outcome in zip(rows, sketches, outcomes, strict=True):
        cells = [_align(row[i], widths[i], is_number=i > 2) for i in shown]
        yield f"  {GAP.join([*cells, f'{sketch:<{bars}}', outcome])}".rstrip()


def _measure(widths: Sequence[int]) -> int:
    """Return the characters of some cells, the indentation, and the gap after each."""
    return 2 + sum(widths) + len(GAP) * len(widths)


def _align(text: str, width: int, *, is_number: bool) -> str:
    from rich.cells import cell_len

    blanks = " " * (width - cell_len(text))
    return blanks + text if is_number else text + blanks


def _clean(text: str) -> str:
    """Return a text on one line, without characters that a terminal obeys."""
    return "".join(c if c.isprintable() else " " for c in text)


def _sketch_values(column: InspectedColumn, length: int, is_unicode: bool) -> str:
    """Return the histogram of a column as a line of characters."""
    summary, info = column.summary, column.info
    if summary is None or not column.is_variable:
        return ""
    numbers = summary.numbers
    if numbers is not None and (info.type == "continuous" or summary.n_other_states):
        histogram = numbers.histogram
        tails = [[n] if n else [] for n in (histogram.n_below, histogram.n_above)]
        return format_sparkline([*tails[0], *histogram.counts, *tails[1]], length, is_unicode)
    counts = [one.count for one in summary.states]
    if summary.n_other_states:
        counts.append(summary.n_other_rows)
    return format_sparkline(counts[:length], length, is_unicode)


def format_sparkline(counts: Sequence[int], length: int, is_unicode: bool = True) -> str:
    """Return counts as a line of at most `length` characters; more counts are added up.

    >>> format_sparkline([1, 4, 8, 0, 2], 20), format_sparkline([1, 4, 8, 0, 2], 20, False)
    ('▁▄█ ▂', '.=@ :')
    """
    if not counts:
        return ""
    group = -(-len(counts) // length)
    merged = [sum(counts[i : i + group]) for i in range(0, len(counts), group)]
    blocks = BLOCKS if is_unicode else ASCII_BLOCKS
    tallest = max(merged) or 1
    levels = (-(-n * len(blocks) // tallest) - 1 for n in merged)
    return "".join(" " if n == 0 else blocks[i] for n, i in zip(merged, levels, strict=True))


def _describe(column: InspectedColumn, length: int, dots: str) -> str:
    """Return the outcome of a column, in one line."""
    from coevo.view.inspection.page import format_value

    info, summary = column.info, column.summary
    if not column.is_variable:
        return _list_items(
            "" if summary else "not read", _list_examples(column, dots), length, dots
        )
    if info.cuts is None:
        from coevo.data.state_words import shorten_states

        text = f"{format_count(len(info.states), 'state')}: "
        return _list_items(
            text, [_clean(state) for state in shorten_states(info.states).values()], length, dots
        )
    points = [format_value(point) for point in info.cuts.points]
    noun = {0: "no cut point", 1: "cut point "}.get(len(points), "cut points ")
    return _list_items(noun, points, length, dots)


def _list_examples(column: InspectedColumn, dots: str) -> list[str]:
    if column.summary is None:
        return []
    more = [dots] if column.summary.n_distinct > len(column.summary.examples) else []
    return [*map(_clean, column.summary.examples), *more]


def _list_items(text: str, items: Sequence[str], length: int, dots: str) -> str:
    """Return a text and as many items as fit; the last item says that there are more.

    >>> _list_items("3 states: ", ["low", "middle", "high"], 22, "...")
    '3 states: low, ...'
    """
    line = f"{text}{', '.join(items)}"
    if len(line) <= length:
        return line
    kept = list(items)
    while kept and len(f"{text}{', '.join(kept)}, {dots}") > length:
        kept.pop()
    if kept:
        return f"{text}{', '.join(kept)}, {dots}"
    return f"{text}{items[0] if items else ''}"[: length - len(dots)] + dots
