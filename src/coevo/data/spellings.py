"""Spellings of one state: blanks around it, upper and lower case, and yes, y, ja, true.

Blanks around a label are never part of it. Labels that differ in case only are one state, unless
the case is all that a column tells (the genotypes AA, Aa and aa), or the labels are single letters
that are no usual abbreviation. Words of the same meaning are only proposed: "y" and "yes" are one
answer, but a table can mean two things by them.

`merge_spellings` changes columns of text whose states nobody declares. The states that a caller
declares are matched in `coevo.data.match_states`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from coevo.data.columns import Column, relabel_column
from coevo.data.decisions import Decision
from coevo.data.drafts import Draft, Notes
from coevo.data.left_out import find_text_identifier
from coevo.data.match_states import fold
from coevo.data.option_hints import format_merge_hint, format_type_hint
from coevo.data.table_audit import Finding
from coevo.errors import format_count, format_list

__all__ = ["find_synonyms", "merge_spellings"]

# Letters that are abbreviations in either case: yes, no, male, female, and so on.
_LETTERS = frozenset("ynmfwjtxos")
MAX_LETTER_SHARE = 0.1  # other letters: the rarer case is a slip if so few rows have it
MAX_SYNONYM_STATES = 8  # more states are no answer to a question of yes and no
_SYNONYMS: tuple[tuple[frozenset[str], ...], ...] = tuple(
    tuple(frozenset(words.split("|")) for words in line.split())
    for line in (
        "yes|y|ja|j|true|t|oui|si|sí|sim|da|1 no|n|nein|false|f|non|nej|0",
        "male|m|man|men|boy|männlich|mann|herr|homme|masculine"
        " female|f|w|woman|women|girl|weiblich|frau|femme|feminine",
        "positive|pos|+ negative|neg|-",
    )
)
_BARE = frozenset("01+-")  # alone such a label is a code, and no word


def merge_spellings(drafts: Iterable[Draft], notes: Notes) -> None:
    """Merge the spellings of the states of columns of text, in place."""
    blanks: list[str] = []
    for draft in drafts:
        column = draft.column
        is_text = draft.is_free and draft.numbers is None
        if not is_text or find_text_identifier(column) is not None:
            continue  # names of things that are left out may differ in case
        stripped = {
            label: clean
            for code in np.flatnonzero(column.counts).tolist()
            if (clean := (label := str(column.labels[code])).strip()) != label
        }
        if stripped:
            blanks.append(column.name)
        clean_column = relabel_column(column, stripped)
        cased = _find_cases(clean_column)
        draft.column = relabel_column(clean_column, cased)
        if cased:
            notes.decisions.append(_decide_case(clean_column, cased))
        changed = {old: cased.get(new, new) for old, new in stripped.items()} | cased
        if changed:
            notes.merges[column.name] = {**notes.merges.get(column.name, {}), **changed}
        if (found := find_synonyms(draft.column)) is not None:
            notes.findings.append(found)
    if blanks:
        notes.decisions.append(_decide_blanks(blanks))


def _find_cases(column: Column) -> dict[str, str]:
    """Return the new label of labels that differ from another one in case only."""
    groups = _group(column)
    if len(groups) < 2:
        return {}  # the case is all that the column tells
    found: dict[str, str] = {}
    for folded, spellings in groups.items():
        if len(spellings) < 2:
            continue
        order = sorted(spellings, key=lambda label: (-spellings[label], label))
        rarer = sum(spellings.values()) - spellings[order[0]]
        is_letter = len(folded) == 1 and folded not in _LETTERS
        if is_letter and rarer > MAX_LETTER_SHARE * sum(spellings.values()):
            continue
        found |= dict.fromkeys(order[1:], order[0])
    return found


def _group(column: Column) -> dict[str, dict[str, int]]:
    """Return the labels of a column and their rows, by their text without case."""
    groups: dict[str, dict[str, int]] = {}
    for code in np.flatnonzero(column.counts).tolist():
        label = str(column.labels[code])
        groups.setdefault(fold(label), {})[label] = int(column.counts[code])
    return groups


def _decide_case(column: Column, merged: Mapping[str, str]) -> Decision:
    """Return the decision that labels of a column were merged."""
    counts = {str(label): int(n) for label, n in zip(column.labels, column.counts, strict=True)}
    by_new: dict[str, list[str]] = {}
    for old, new in merged.items():
        by_new.setdefault(new, []).append(old)
    parts = [
        f"{format_list([repr(one) for one in sorted(old)])} with {new!r}"
        for new, old in sorted(by_new.items())
    ]
    rows = format_count(sum(counts[old] for old in merged), "row")
    text = f"Spellings in {column.name!r} that differ in case only were merged ({rows}): "
    undo = format_type_hint(column.name, "categorical")
    return Decision("spelling", (column.name,), f"{text}{format_list(parts)}.", undo)


def _decide_blanks(names: Sequence[str]) -> Decision:
    listed = format_list([repr(name) for name in names])
    text = f"Blanks around values of {listed} were removed."
    return Decision("blanks", tuple(names), text, format_type_hint(names, "categorical"))


def find_synonyms(column: Column) -> Finding | None:
    """Return the finding on words of one meaning, as yes and y; None if there are none."""
    states = {label: n for group in _group(column).values() for label, n in group.items()}
    if len(states) > MAX_SYNONYM_STATES:
        return None
    for meanings in _SYNONYMS:
        merged: dict[str, str] = {}
        for words in meanings:
            same = [state for state in states if state.casefold() in words]
            if len(same) < 2 or all(state in _BARE for state in same):
                continue
            same.sort(key=lambda state: (-states[state], -len(state), state))
            merged |= dict.fromkeys(same[1:], same[0])
        known = [state for state in states if any(state.casefold() in words for words in meanings)]
        if merged and len(known) >= len(states) - 1:  # one other state, as "unknown", is usual
            pairs = [f"{old!r} and {new!r}" for old, new in sorted(merged.items())]
            hint = format_merge_hint(column.name, merged)
            return Finding(
                "synonyms",
                (column.name,),
                f"{format_list(pairs)} in {column.name!r} may mean the same. If they do, merge "
                f"them ({hint}).",
                options={"merge": {column.name: merged}},
            )
    return None
