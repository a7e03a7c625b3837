"""Columns that usually have no cause inside the table, by their names: age, sex, trial arm, date.

A search directs arcs by the score alone, so a network may say that an outcome leads to the age of
a patient. Only the user knows that this cannot be. `is_root_name` recognises the usual names in
English, German, French, Spanish, Portuguese, Italian and Dutch, so that an answer can name the
option ``--root``. It decides nothing: the network stays as it is.

A name is split into words at punctuation, digits and capitals ("birthYear2", "DATE_OF_BIRTH"). Some
words tell wherever they stand ("patient_age", "sex.at.birth"). Others are too common for that, and
tell only as the complete name ("group", but not "blood_group"; "year", but not "years_in_school").
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Sequence

__all__ = ["describe_roots", "is_root_name"]

# Words that tell in any place of a name. Accents are removed.
_ANYWHERE = re.compile(
    r"""
    age(s|cat|group|grp|years|yr|y)? | alter(sgruppe)? | edad | idade | leeftijd
    | sex[eo]? | gender | sesso | geschlecht | geslacht | genero
    | race | ethnic(ity)? | ethnie | etnia | etniciteit | raza | raca | razza
    | dob | yob | birth(date|day|year|dat) | geburts(datum|jahr|tag) | naissance
    | nacimiento | nascimento | nascita | geboorte(datum|jaar)
    | rx | trt(grp)? | treatment | treatgrp | (act)?arm(cd)? | randomi[sz](ed|ation)
    | behandlung(sarm|sgruppe)? | (studien|therapie)arm | traitement | bras
    | tratami?ento | bra[zc]o | trattamento | braccio | behandel(ing|arm|groep)
    """,
    re.VERBOSE,
)
# Words that tell only if the name has no other word (beside a number or one of `_FILLERS`).
_ALONE = re.compile(
    r"""
    male | female | eta | genre | genere | tx | allocation | assignment | placebo
    | group[eo]? | grupp[eo] | grupo | groep | cohorte? | kohorte
    | year | month | season | weekday | date | jahr | monat | datum | annee | mois | anno? | jaar
    | maand | fecha
    | site(id)? | cent(er|re|ro|rum) | zentrum | standort | country | land | pa[iy]s | paese
    """,
    re.VERBOSE,
)
_FILLERS = {"id", "is", "no", "nr", "code", "study", "trial", "patient", "subject", "of", "at"}
# Words that make something else of it: the response to a treatment, the days of a treatment.
_OTHER_THINGS = re.compile(
    r"response|outcome|effects?|success|failure|failed|costs?|days|time|duration|stopped|drive|risk"
)


def is_root_name(name: str) -> bool:
    """Return whether a column usually has no cause inside a table, by its name.

    >>> [is_root_name(name) for name in ("Age", "patientSex", "rx", "Date of birth", "group")]
    [True, True, True, True, True]
    >>> [is_root_name(name) for name in ("stage", "blood_group", "treatment_response", "years")]
    [False, False, False, False]
    """
    words = _split_words(name)
    if any(map(_OTHER_THINGS.fullmatch, words)):
        return False
    if any(map(_ANYWHERE.fullmatch, words)) or ("birth" in words and words & {"date", "year"}):
        return True
    telling = words - _FILLERS
    return len(telling) == 1 and all(map(_ALONE.fullmatch, telling))


def _split_words(name: str) -> set[str]:
    """Return the words of a name in lower case, without accents and numbers.

    >>> sorted(_split_words("birthYear2")), sorted(_split_words("ÂGE_(ans)"))
    (['birth', 'year'], ['age', 'ans'])
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", plain)
    return {part.lower() for part in parts}


def describe_roots(names: Sequence[str], option: str = "") -> str:
    """Return a sentence about variables that have parents but usually cannot have any.

    `option` says how to exclude that; by default it is the option of the commands.

    >>> describe_roots(["age", "sex", "rx"])
    'age, sex and rx have parents here; if they cannot, --root age,sex,rx'
    >>> describe_roots(["date of birth"], "roots=['date of birth']")
    "date of birth has parents here; if it cannot, roots=['date of birth']"
    """
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    have, they = ("has", "it") if len(names) == 1 else ("have", "they")
    way_out = option or f"--root {shlex.quote(','.join(names))}"
    return f"{listed} {have} parents here; if {they} cannot, {way_out}"
