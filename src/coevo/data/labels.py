"""Labels of columns: those that are numbers, and the order of states.

Labels that are numbers: parse them from text, or create their text on demand.

A column of measurements can have a different label in each row. The text of all labels would
take far more memory than the table itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MISSING_LABELS",
    "SCALES",
    "NumberLabels",
    "find_decimal",
    "parse_number",
    "parse_numbers",
    "sort_naturally",
]

# Text that stands for a missing value, unless it is a declared state of its column.
# Spaces around it do not matter: many published tables write ", ?". A point is a missing value of
# SAS and Stata, and words after # are errors of a spreadsheet. Words like "none" and "unknown" can
# be states: see `coevo.data.prepare.number_formats` and `coevo.data.prepare.missing_labels`.
MISSING_LABELS = frozenset(
    {"", "NA", "NaN", "nan", "null", "NULL", "?", "N/A", "n/a", "#N/A", "#NULL!", "<NA>", "."}
    | {"#DIV/0!", "#NAME?", "#NUM!", "#REF!", "#VALUE!"}
)

# A possessive repeat (`\d++`) never gives back what it matched. Without it, a cell of n digits and
# a letter takes n^2 steps.
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d+")
_CODE = re.compile(r"0\d+")  # leading zeros are part of a code


class NumberLabels(Sequence[str | None]):
    """The texts of numbers, created on demand. The last number can be NaN; its text is None.

    >>> list(NumberLabels(np.array([0.5, 2.0, np.nan])))
    ['0.5', '2.0', None]
    """

    def __init__(self, numbers: NDArray[np.floating]) -> None:
        self.numbers = numbers

    def find_missing(self) -> list[int]:
        """Return the codes of missing values: NaN."""
        return np.flatnonzero(np.isnan(self.numbers)).tolist()

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, code: int) -> str | None: ...

    @overload
    def __getitem__(self, code: slice) -> list[str | None]: ...

    def __getitem__(self, code: int | slice) -> str | list[str | None] | None:
        if isinstance(code, slice):
            return [_format(number) for number in self.numbers[code]]
        return _format(self.numbers[code])

    def __iter__(self) -> Iterator[str | None]:
        return iter(self[:])


def parse_number(label: str | None) -> float | None:
    """Return the number of one label, or None if it is text, missing, or a code like ``007``.

    >>> parse_number(" -999.0"), parse_number("007"), parse_number("old")
    (-999.0, None, None)
    """
    text = (label or "").strip()
    if not _NUMBER.fullmatch(text) or _CODE.fullmatch(text):
        return None
    return float(text)


def parse_numbers(labels: Sequence[str | None]) -> NDArray[np.float64] | None:
    """Return the number of each label, NaN for a missing value, or None if a label is text.

    >>> parse_numbers(["3", " -.5", "1e3", "NA"]).tolist()
    [3.0, -0.5, 1000.0, nan]
    >>> parse_numbers(["3", "high"]) is None
    True
    """
    if isinstance(labels, NumberLabels):
        return labels.numbers.astype(np.float64)
    numbers = np.empty(len(labels))
    for code, label in enumerate(labels):
        text = (label or "").strip()
        if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text):
            numbers[code] = float(text)
        elif text in MISSING_LABELS:
            numbers[code] = math.nan
        else:
            return None
    return numbers


def find_decimal(labels: Sequence[str | None]) -> int | None:
    """Return the code of the first decimal number, if all labels are numbers or missing.

    >>> find_decimal(["3", "NA", "2.5"]), find_decimal(["3", "2.5", "high"])
    (2, None)
    """
    first = None
    for code, label in enumerate(labels):
        text = (label or "").strip()
        if _INTEGER.fullmatch(text) or text in MISSING_LABELS:
            continue
        if not _NUMBER.fullmatch(text):
            return None
        first = code if first is None else first
    return first


def _format(number: np.floating) -> str | None:
    return None if np.isnan(number) else str(number)


# The order of states as people write it: 2 before 10, "<20k" before "20k-40k", low before high.
#
# The order is for output only. It depends on the labels and on nothing else, never on rows or
# columns. In this order `sort_naturally` tries numbers, ranges of numbers, Roman numerals and
# known scales; a label that means "unknown" or "other" comes last. All labels of a column must
# fit, else they are sorted by text, with the numbers inside compared as numbers.


# Words that end a scale; they are no part of it.
_LAST = frozenset(
    """
    other others another unknown missing undetermined unspecified none_of_these no_answer na n_a
    not_known not_recorded not_available not_applicable no_data dont_know unbekannt keine_angabe k_a
    andere sonstige
    """.split()  # noqa: SIM905
)

# Each line is a scale; words with a bar between them have the same place. Blanks are underscores.
SCALES: tuple[tuple[tuple[str, ...], ...], ...] = tuple(
    tuple(tuple(place.split("|")) for place in line.split())
    for line in """
none|no|nil|zero very_low|lowest low|lower lower_middle
    medium|moderate|middle|mid|med|normal|average upper_middle high|higher very_high|highest
none|absent minimal|very_mild|trace mild|slight|light some moderate marked severe|serious
    very_severe|critical|extreme|life_threatening fatal|death|dead
never almost_never|hardly_ever|very_rarely rarely|seldom|rare occasionally|occasional
    sometimes regularly|regul|regular often|frequently|freq|frequent usually|very_often
    almost_always|nearly_always always|constantly
never yearly|annually monthly|once_a_month weekly|once_a_week daily|every_day hourly
strongly_agree|agree_strongly|completely_agree|totally_agree|sa agree|a|mostly_agree
    somewhat_agree|slightly_agree|agree_somewhat|agree_a_little|tend_to_agree
    neutral|neither|neither_agree_nor_disagree|undecided|no_opinion|n|not_sure|unsure
    somewhat_disagree|slightly_disagree|disagree_somewhat|disagree_a_little|tend_to_disagree
    disagree|d|mostly_disagree
    strongly_disagree|disagree_strongly|completely_disagree|totally_disagree|sd
very_poor|very_bad|terrible|awful poor|bad below_average fair|so_so
    average|ok|okay|acceptable|typical|satisfactory|medium above_average
    good very_good|great excellent|outstanding|superb
poor fair good very_good premium ideal
extra_extra_small|xxs extra_small|xs|tiny|very_small small|s|sm|little medium|m|med|middle
    large|l|lg|big|great extra_large|xl|very_large|huge|very_big xxl|2xl xxxl|3xl
very_dissatisfied|very_unsatisfied dissatisfied|unsatisfied somewhat_dissatisfied
    neutral|neither|neither_satisfied_nor_dissatisfied somewhat_satisfied satisfied very_satisfied
very_unlikely|extremely_unlikely unlikely neutral|neither|possible likely|probable
    very_likely|extremely_likely certain
not_at_all|not|none|not_important|unimportant a_little|slightly|a_bit|little
    somewhat|moderately|some|somewhat_important quite|fairly|quite_a_bit|a_lot|important
    very|very_much|very_important extremely|completely|extremely_important
very_unhappy unhappy|not_too_happy neutral pretty_happy|happy very_happy
strong_decrease|much_lower decrease|decreased|lower|down
    no_change|unchanged|stable|same|constant increase|increased|higher|up
    strong_increase|much_higher
much_worse worse|deteriorated|progressed same|no_change|unchanged|stable better|improved
    much_better|recovered|cured
negative|neg|unfavourable|unfavorable neutral|borderline|equivocal|intermediate|mixed
    positive|pos|favourable|favorable
normal borderline|mildly_abnormal abnormal|pathological
underweight|thin normal|normal_weight|healthy overweight obese|obesity morbidly_obese|severely_obese
infant|baby|newborn toddler child|children|kid adolescent|teen|teenager|youth
    young_adult|young adult middle_aged|middle_age senior|elderly|old|older_adult
young|younger middle|middle_aged|medium old|older|elderly
new recent old
very_cold|freezing cold cool mild|moderate|medium warm hot very_hot
very_slow slow medium|normal|moderate|average fast|quick very_fast
very_short short medium|normal|average|middle long|tall very_long|very_tall
very_light light medium|normal|average heavy very_heavy
very_weak weak medium|moderate|normal|average strong very_strong
very_easy easy medium|moderate|normal|intermediate hard|difficult very_hard|very_difficult
thin medium|normal|average thick
narrow medium|normal wide
dark medium light
beginner|novice|basic intermediate|medium advanced expert|professional
minor moderate|medium major critical
before|pre|pretest|baseline during|peri after|post|posttest|follow_up
past present|current|now future
morning noon|midday afternoon evening night
spring summer autumn|fall winter
freshman|first_year sophomore junior senior graduate
bronze silver gold platinum diamond
first|one second|two third|three fourth|four fifth|five sixth|six seventh|seven eighth|eight
    ninth|nine tenth|ten
zero|none one two three four five six seven eight nine ten
one_way two_way three_way four_way
single double triple quadruple
no_education|no_schooling|illiterate|none primary|primary_school|elementary|elementary_school|basic
    less_than_high_school|some_high_school|lower_secondary|middle_school
    secondary|secondary_school|high_school|high_school_graduate|hs|hs_grad|upper_secondary
    some_college|vocational|technical associate|associates|associates_degree
    college|bachelor|bachelors|bachelors_degree|undergraduate|university|tertiary|higher|college_graduate
    postgraduate|graduate|master|masters|masters_degree doctorate|phd|doctoral
none_or_primary secondary higher
january|jan|januar february|feb|februar march|mar|märz|mrz april|apr may|mai june|jun|juni
    july|jul|juli august|aug september|sep|sept october|oct|oktober|okt november|nov
    december|dec|dezember|dez
monday|mon|montag|mo tuesday|tue|tues|dienstag|di|tu wednesday|wed|mittwoch|mi|we
    thursday|thu|thur|thurs|donnerstag|do|th friday|fri|freitag|fr saturday|sat|samstag|sa
    sunday|sun|sonntag|so|su
nie|niemals selten gelegentlich manchmal häufig|oft|meistens immer
kein|keine|keines sehr_niedrig|sehr_gering niedrig|gering|wenig mittel|mäßig|normal|durchschnittlich
    hoch|viel sehr_hoch|sehr_viel
keine|kein leicht|mild mittel|mäßig|mittelschwer|moderat schwer|stark sehr_schwer|sehr_stark
sehr_klein klein mittel|mittelgroß groß|gross sehr_groß|sehr_gross
sehr_schlecht schlecht mittel|mittelmäßig|ausreichend|befriedigend gut sehr_gut
stimme_voll_zu|stimme_völlig_zu|trifft_voll_zu stimme_zu|trifft_zu stimme_eher_zu|trifft_eher_zu
    teils_teils|neutral|weder_noch stimme_eher_nicht_zu|trifft_eher_nicht_zu
    stimme_nicht_zu|trifft_nicht_zu
    stimme_gar_nicht_zu|stimme_überhaupt_nicht_zu|trifft_gar_nicht_zu
""".replace("\n    ", " ")
    .strip()
    .splitlines()
)
MAX_LENGTH = 60  # of a range; the time of the patterns grows with the square of the length
_SHORT = 2  # letters: a scale of such words alone is a coincidence, unless there are three of them

_ROMAN = re.compile(
    r"(?:(?:stage|grade|phase|class|stadium|grad|type|typ|level|tier|figo|nyha)[ _.-]*)?"
    r"(?P<roman>x{0,3}(?:ix|iv|v?i{0,3}))(?P<rest>[ -]?[a-e]?[0-9]?)"
)
_VALUES = {"i": 1, "v": 5, "x": 10}

_NUMBER_IN_STATE = r"[-+]?(?:\d[\d ,']*(?:\.\d+)?|\.\d+)"
_UNIT = r"[a-zµ%°/²³_. -]*"
_SIDE = rf"(?P<{{0}}>{_NUMBER_IN_STATE}) ?(?P<{{0}}_unit>{_UNIT}?)"
_BELOW = (
    "<=?|≤|under|below|less than|lower than|fewer than|younger than|up to|at most|max\\.?|until|"
    "unter|bis|kleiner als|weniger als|höchstens"
)
_ABOVE = (
    ">=?|≥|over|above|more than|higher than|older than|greater than|at least|min\\.?|from|über|ab|"
    "mehr als|größer als|mindestens"
)
_AND_LESS = "(?:and|or|und|oder) ?(?:under|below|less|younger|weniger)"
_AND_MORE = (
    r"\+|plus|(?:and|or|&|und|oder) ?(?:over|above|older|more|up|higher|greater|later|mehr|älter|"
    "darüber|höher)"
)
_FORMS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("below", rf"(?:{_BELOW}) ?" + _SIDE.format("high")),
        ("above", rf"(?:{_ABOVE}) ?" + _SIDE.format("low")),
        ("above", _SIDE.format("low") + rf" ?(?:{_AND_MORE}) ?(?P<tail>{_UNIT})"),
        (
            "below",
            _SIDE.format("high") + r" ?(?:and|or|und|oder) ?(?:under|below|less|younger|weniger)",
        ),
        (
            "range",
            r"(?:between |from |von )?[\[(]?"
            + _SIDE.format("low")
            + r" ?(?:-|–|—|to|bis|until|through|and|und|;|, |\.\.\.?) ?(?:<|under )?"
            + _SIDE.format("high")
            + r"[\])]?",
        ),
        ("single", _SIDE.format("low")),
    )
)
_THOUSANDS = {"k": 1e3, "tsd": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6, "bn": 1e9}
_SIGNS = re.compile("[$€£¥]")
_DIGITS = re.compile(r"(\d+)")

Keys = list[Any]


def sort_naturally(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as people do, whatever the order in which they come.

    >>> sort_naturally(["10", "9", "-1"])
    ('-1', '9', '10')
    >>> sort_naturally(["yes", "no"])
    ('no', 'yes')
    >>> sort_naturally(["120+", "40-79", "0-39g", "80-119"])
    ('0-39g', '40-79', '80-119', '120+')
    >>> sort_naturally(["20k-40k", "<20k", "unknown", ">40k"])
    ('<20k', '20k-40k', '>40k', 'unknown')
    >>> sort_naturally(["high", "low", "medium"])
    ('low', 'medium', 'high')
    >>> sort_naturally(["Disagree", "Strongly agree", "Agree"])
    ('Strongly agree', 'Agree', 'Disagree')
    >>> sort_naturally(["stage IV", "stage IIA", "stage IIB", "stage I"])
    ('stage I', 'stage IIA', 'stage IIB', 'stage IV')
    >>> sort_naturally(["item 10", "item 9"])
    ('item 9', 'item 10')
    """
    texts = sorted(labels)
    try:
        return tuple(sorted(texts, key=int))
    except ValueError:
        pass
    last = [text for text in texts if _simplify(text) in _LAST]
    first = [text for text in texts if _simplify(text) not in _LAST]
    attempts: tuple[Callable[[Sequence[str]], Keys | None], ...]
    attempts = (_place_ranges, _place_romans, _place_on_scale)
    for attempt in attempts if len(first) > 1 else ():
        keys = attempt(first)
        if keys is not None:
            ranks = sorted(range(len(first)), key=lambda i: (keys[i], first[i]))
            return (*(first[i] for i in ranks), *last)
    return tuple(sorted(texts, key=_split_digits))  # stable: ties stay in the order of text


def _simplify(label: str) -> str:
    """Return a label in lower case, with underscores for blanks and punctuation."""
    words = re.sub(r"[^\w]+", " ", label.casefold().replace("'", "").replace("’", "")).split()
    return "_".join("_".join(words).split("_"))


def _place_on_scale(labels: Sequence[str]) -> Keys | None:
    """Return the place of each label on a known scale; None if no scale has all of them."""
    words = [_simplify(label) for label in labels]
    if all(len(word) <= _SHORT for word in words) and len(words) <= _SHORT:
        return None
    for scale in SCALES:
        place_of = {word: i for i, place in enumerate(scale) for word in place}
        places = [place_of.get(word, -1) for word in words]
        if -1 not in places and len(set(places)) > 1:
            return list(places)
    return None


def _place_romans(labels: Sequence[str]) -> Keys | None:
    """Return the value of labels that are Roman numerals, with a letter behind or a word before."""
    keys: Keys = []
    for label in labels:
        match = _ROMAN.fullmatch(label.strip().casefold())
        if match is None or not match["roman"]:
            return None
        values = [_VALUES[letter] for letter in match["roman"]]
        number = sum(-value if value < max(values[i:]) else value for i, value in enumerate(values))
        keys.append((number, match["rest"]))
    return keys


def _place_ranges(labels: Sequence[str]) -> Keys | None:
    """Return the ends of labels that are ranges of numbers, as "<20k", "20-40", "65 and over".

    All must have the same unit, or none. "none" is below all numbers.
    """
    keys: Keys = []
    units: set[str] = set()
    if any(len(label) > MAX_LENGTH for label in labels):
        return None
    texts = [_clean(label) for label in labels]
    has_thousands = any(re.search(r"\dk\b", text) for text in texts)
    for text in texts:
        if text in ("none", "no", "nil", "never", "keine"):
            keys.append((-math.inf, -math.inf))
            continue
        found = _parse_range(text, has_thousands)
        if found is None:
            return None
        key, own = found
        keys.append(key)
        units |= own
    is_number = [math.isfinite(key[0]) or math.isfinite(key[1]) for key in keys]
    return keys if len(units) < 2 and sum(is_number) > 1 else None


def _clean(label: str) -> str:
    text = _SIGNS.sub("", label.casefold().replace("\u00a0", " "))
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", re.sub(r"\s+", " ", text)).strip()


def _parse_range(text: str, has_thousands: bool) -> tuple[tuple[float, float], set[str]] | None:
    """Return the ends of a range and its units; None if the text is no range."""
    for kind, pattern in _FORMS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        groups = match.groupdict()
        units: set[str] = set()
        ends: dict[str, float] = {}
        factor = 1.0
        for side in ("high", "low"):  # in "20-40k" both ends are thousands
            if groups.get(side) is None:
                continue
            unit = (groups[f"{side}_unit"] or "").strip(" ._-")
            is_factor = unit in _THOUSANDS and (has_thousands or unit != "m")
            factor = _THOUSANDS[unit] if is_factor else factor
            try:
                ends[side] = float(re.sub("[ ,']", "", groups[side])) * factor
            except ValueError:
                return None
            units |= set() if is_factor or not unit else {unit.rstrip("s")}
        tail = (groups.get("tail") or "").strip(" ._-")
        units |= {tail.rstrip("s")} if tail else set()
        low, high = ends.get("low", -math.inf), ends.get("high", math.inf)
        if kind == "single":
            high = low
        return None if high < low else ((low, high), units)
    return None


def _split_digits(label: str) -> list[tuple[int, int, str]]:
    """Return the parts of a label for sorting: numbers by their length and digits, then text."""
    parts = _DIGITS.split(label)
    digits = [part.lstrip("0") if i % 2 else "" for i, part in enumerate(parts)]
    return [
        (0, len(number), number) if i % 2 else (1, 0, part)
        for i, (part, number) in enumerate(zip(parts, digits, strict=True))
        if part
    ]
