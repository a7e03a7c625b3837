"""Labels and the states that they mean: spellings of one state, values from anywhere.

Spellings of one state: blanks around it, upper and lower case, and yes, y, ja, true.

Blanks around a label are never part of it. Labels that differ in case only are one state, unless
the case is all that a column tells (the genotypes AA, Aa and aa), or the labels are single letters
that are no usual abbreviation. Words of the same meaning are only proposed: "y" and "yes" are one
answer, but a table can mean two things by them.

`merge_spellings` changes columns of text whose states nobody declares. The states that a caller
declares are matched by `match_texts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.bins import CutPoints
from coevo.data.column_types import format_merge_hint, format_type_hint
from coevo.data.columns import Column, relabel_column
from coevo.data.decisions import Decision
from coevo.data.labels import NumberLabels, parse_numbers
from coevo.data.prepare.drafts import Draft, Notes
from coevo.data.prepare.left_out import find_text_identifier
from coevo.data.summary import shorten_states
from coevo.data.table_audit import Finding
from coevo.data.variable import Variable
from coevo.errors import format_count, format_list

__all__ = [
    "UNKNOWN",
    "find_code",
    "find_synonyms",
    "fold",
    "match_labels",
    "match_texts",
    "merge_spellings",
]


# Match values from anywhere with the states of a variable.
#
# A value matches a state if its text is the state, if it is a number in the bin that the state
# names, if both are the same number (``2.0`` and ``2``), or if they differ in blanks and case
# only. A value that matches no state is unknown; its code is -1.


UNKNOWN = -1  # the code of a value that is not known

Codes = NDArray[np.int32]


def match_labels(variable: Variable, labels: Sequence[str | None]) -> Codes:
    """Return for each label the number of the state that it matches, or -1.

    >>> age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    >>> match_labels(age, ["70", "from_18_to_65", "17.5", "old", None]).tolist()
    [2, 1, 0, -1, -1]
    >>> match_labels(Variable("stage", ("1", "2")), ["2.0", "3"]).tolist()
    [1, -1]
    """
    number = {state: code for code, state in enumerate(variable.states)}
    cuts = CutPoints.from_states(variable.states)
    if cuts is not None:
        bins = np.array([number[state] for state in cuts.states], dtype=np.int32)
        if isinstance(labels, NumberLabels):
            return _apply_cuts(cuts, bins, labels.numbers)
    codes = np.array([number.get(str(label), UNKNOWN) for label in labels], dtype=np.int32)
    others = np.flatnonzero(codes == UNKNOWN)
    if not len(others):
        return codes
    numbers = np.array([_parse(labels[int(i)]) for i in others])
    if cuts is not None:
        codes[others] = _apply_cuts(cuts, bins, numbers)
    else:
        codes[others] = _match_numbers(variable.states, numbers)
        texts = [labels[int(i)] for i in others if codes[i] == UNKNOWN]
        spelled = match_texts([text for text in texts if text is not None], variable.states)
        for i in others[codes[others] == UNKNOWN]:
            codes[i] = number.get(spelled.get(str(labels[int(i)]), ""), UNKNOWN)
    return codes


def match_texts(labels: Iterable[str], states: Sequence[str]) -> dict[str, str]:
    """Return the state of each label that differs from it in blanks or case only.

    >>> match_texts(["Yes ", "no", "NO", "maybe"], ("no", "yes"))
    {'Yes ': 'yes', 'NO': 'no'}
    """
    known = set(states)
    by_text: dict[str, list[str]] = {}
    for state in states:
        by_text.setdefault(fold(state), []).append(state)
    found = {}
    for label in labels:
        same = by_text.get(fold(label), [])
        if label not in known and len(same) == 1:  # states that differ in case only are different
            found[label] = same[0]
    return found


def fold(label: str) -> str:
    """Return a label in lower case, without blanks around it, and with single blanks inside."""
    return " ".join(label.split()).casefold()


def find_code(variable: Variable, value: Any) -> int:
    """Return the number of the state that a value matches, or -1.

    The short name of a state, as answers show it, is accepted too.

    >>> find_code(Variable("age", ("below_18", "from_18")), 40)
    1
    >>> find_code(Variable("bmi", ("0.050680118739", "-0.04464163650")), "-0.04464")
    1
    """
    code = int(match_labels(variable, [None if value is None else str(value)])[0])
    if code != UNKNOWN:
        return code
    short = [shorten_states(variable.states)[state] for state in variable.states]
    return short.index(str(value)) if str(value) in short else UNKNOWN


def _parse(label: str | None) -> float:
    numbers = None if label is None else parse_numbers([label])
    return float("nan") if numbers is None else float(numbers[0])


def _apply_cuts(cuts: CutPoints, bins: Codes, numbers: NDArray[np.floating]) -> Codes:
    """Return the states of numbers; NaN is unknown."""
    is_known = ~np.isnan(numbers)
    codes = np.full(len(numbers), UNKNOWN, dtype=np.int32)
    codes[is_known] = bins[cuts.apply(numbers[is_known])]
    return codes


def _match_numbers(states: Sequence[str], numbers: NDArray[np.float64]) -> Codes:
    """Return the first state that is the same number."""
    by_number: dict[float, int] = {}
    for code, state in enumerate(states):
        by_number.setdefault(_parse(state), code)  # a key that is NaN is never found
    found = [by_number.get(number, UNKNOWN) for number in numbers.tolist()]
    return np.array(found, dtype=np.int32)


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
