r"""Names that other tools can read, beside the names of the user.

The readers of BIF and NET are stricter than the formats. pyAgrum wants identifiers, and its
keywords are none; R's bnlearn reads the name of a table up to the first character that is no
letter, digit or `_`; pgmpy compares names without their case, removes quotes, and finds its
keywords inside names and properties. A file that all three read therefore holds *portable
names*:

- a variable is a letter or `_`, then letters, digits and `_`, all of them ASCII. It is no
  keyword, does not end in `node`, and differs from every other one by more than its case;
- a state may also hold points and hyphens, or be a whole number.

Each name and state that is not portable gets a portable spelling, and the original stands beside
it, in a property (BIF, XMLBIF) or a field (NET) that other tools ignore and coevo reads back.
Originals are ASCII texts in quotes in which each character that could confuse a reader is
``\uXXXX``. The file does not depend on the encoding that a reader assumes. A portable spelling
depends on the names alone, not on their order.

pyAgrum and bnlearn refuse a variable with one state. In a file it has a second state, `never`,
with probability 0. The list of its original states shows coevo that this state is none.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coevo.data.variable import Variable
from coevo.network import CPT, BayesianNetwork

__all__ = [
    "NAME_PROPERTY",
    "STATES_PROPERTY",
    "PortableNetwork",
    "describe_portable_names",
    "make_portable",
    "quote_original",
    "read_original",
    "read_originals",
    "restore_originals",
]

# bnlearn takes the last field of NET that ends in `states` for the states: not `coevo_states`.
NAME_PROPERTY, STATES_PROPERTY = "coevo_name", "coevo_labels"
UNUSED = "never"  # the second state of a variable that has one

_MAX_PADDED = 2**20  # cells of a table with unused states

_OF_BIF = ("network", "variable", "type", "discrete", "probability", "table", "default", "property")
_OF_NET = ("net", "class", "node", "continuous", "utility", "decision", "potential", "states")
KEYWORDS = frozenset([*_OF_BIF, *_OF_NET, "data", "experience"])
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_STATE = re.compile("[A-Za-z_][A-Za-z0-9_.-]*|-?[0-9]+")
# pgmpy takes `table1` in the head of a BIF block for a table, and `node ` in NET for a node.
_TRAP = re.compile("(?:table|default)[0-9eE]|node$")

# `<5` and `>5` must not become the same word.
_SPELLED = {
    "<=": "le_",
    ">=": "ge_",
    "<": "lt_",
    ">": "gt_",
    "\u2264": "le_",
    "\u2265": "ge_",
    "+": "_plus",
    "%": "_pct",
}
_SYMBOL = re.compile("|".join(map(re.escape, _SPELLED)))

_SAFE = re.compile(r"[A-Za-z0-9 _.,:<>()!?$+-]")
_WORDS_OF_READERS = re.compile("(?=(?:variable|probability|node|potential|states))[a-z]")


@dataclass(frozen=True, slots=True)
class PortableNetwork:
    """A network as a file holds it, and the variables that it had before."""

    name: str
    variables: tuple[Variable, ...]
    parents: dict[str, tuple[str, ...]]
    tables: dict[str, CPT]
    originals: dict[str, Variable]  # by portable name


def make_portable(
    network: BayesianNetwork, is_portable: Callable[[str], bool] | None = None
) -> PortableNetwork:
    """Return a network with portable names, and with at least two states for each variable.

    With `is_portable`, only the texts for which it is false are changed (XMLBIF needs less than
    BIF and NET).

    >>> wet = BayesianNetwork([Variable("very wet", ("<5",))], {}, {"very wet": [1.0]})
    >>> make_portable(wet).variables, make_portable(wet).tables["very_wet"].tolist()
    ((Discrete(name='very_wet', states=('lt_5', 'never')),), [[1.0, 0.0]])
    """
    fits_name, fits_state = is_portable or _is_portable_name, is_portable or _is_portable_state
    names = [variable.name for variable in network.variables]
    name_of = _spell_all(names, fits_name, _spell_name, str.lower)
    pads = _can_add_unused_states(network)
    variables, originals = [], {}
    for variable in network.variables:
        spelled = _spell_all(variable.states, fits_state, _spell_state, str)
        states = [spelled[state] for state in variable.states]
        if len(states) == 1 and pads:
            states.append(UNUSED if states[0] != UNUSED else f"{UNUSED}_2")
        variables.append(Variable(name_of[variable.name], tuple(states)))
        originals[name_of[variable.name]] = variable
    return PortableNetwork(
        network.name if fits_name(network.name) or not network.name else _spell_name(network.name),
        tuple(variables),
        {name_of[name]: tuple(map(name_of.__getitem__, network.parents(name))) for name in names},
        {
            name_of[name]: _add_unused_states(network, name) if pads else network.table(name)
            for name in names
        },
        originals,
    )


def _can_add_unused_states(network: BayesianNetwork) -> bool:
    """Return whether no table becomes very large: each parent with one state doubles it."""
    for variable in network.variables:
        family = (*network.parents(variable.name), variable.name)
        n_doubled = sum(network.variable(member).arity == 1 for member in family)
        if n_doubled and network.table(variable.name).size * 2**n_doubled > _MAX_PADDED:
            return False
    return True


def _add_unused_states(network: BayesianNetwork, name: str) -> CPT:
    """Return a table in which each variable with one state has a second one."""
    family = [network.variable(member).arity for member in (*network.parents(name), name)]
    table = network.table(name)
    if 1 not in family:
        return table
    axes = table.reshape(family)
    for axis, arity in enumerate(family):
        axes = np.repeat(axes, 2, axis) if arity == 1 else axes
    padded = axes.reshape(-1, max(family[-1], 2)).copy()
    if family[-1] == 1:
        padded[:, 1] = 0.0
    return padded


def restore_originals(
    variables: Mapping[str, Variable],
    parents: Mapping[str, Sequence[str]],
    tables: Mapping[str, CPT],
    names: Mapping[str, str],
    states: Mapping[str, tuple[str, ...]],
) -> tuple[tuple[Variable, ...], dict[str, tuple[str, ...]], dict[str, CPT]]:
    """Return the variables, parents and tables that `make_portable` was given.

    `names` and `states` hold the originals that a file has, by the name of the variable in the
    file. Another tool may have changed the file and kept our properties. States that do not fit
    their variable are therefore ignored, and so are all names if two of them are the same.
    """
    name_of = {name: names.get(name, name) for name in variables}
    if len(set(name_of.values())) < len(name_of):
        name_of = {name: name for name in variables}
    restored = {}
    for name, variable in variables.items():
        listed = states.get(name, variable.states)
        has_unused = len(listed) == 1 and variable.arity == 2 and not tables[name][:, 1].any()
        fits = has_unused or len(listed) == variable.arity == len(set(listed))
        restored[name] = Variable(name_of[name], listed if fits else variable.states)
    new_tables = {}
    for name, table in tables.items():
        family = (*parents[name], name)
        if any(restored[member].arity < variables[member].arity for member in family):
            axes = table.reshape([variables[member].arity for member in family])
            used = axes[tuple(slice(restored[member].arity) for member in family)]
            table = used.reshape(-1, restored[name].arity)
        new_tables[name_of[name]] = table
    new_parents = {name_of[child]: tuple(name_of[p] for p in parents[child]) for child in variables}
    return tuple(restored.values()), new_parents, new_tables


def describe_portable_names(network: BayesianNetwork) -> dict[str, Any]:
    """Return the spelling of each variable that BIF does not write unchanged, for run.json.

    >>> wet = BayesianNetwork([Variable("very wet", ("0", "no!"))], {}, {"very wet": [0.8, 0.2]})
    >>> describe_portable_names(wet)
    {'very wet': {'name': 'very_wet', 'states': {'no!': 'no_'}}}
    """
    portable = make_portable(network)
    found: dict[str, Any] = {}
    for variable in portable.variables:
        original = portable.originals[variable.name]
        pairs = zip(original.states, variable.states, strict=False)  # without an unused state
        states = {state: spelled for state, spelled in pairs if state != spelled}
        if states or variable.name != original.name:
            found[original.name] = {"name": variable.name, "states": states}
    return found


def _spell_all(
    texts: Sequence[str],
    is_portable: Callable[[str], bool],
    spell: Callable[[str], str],
    fold: Callable[[str], str],
) -> dict[str, str]:
    """Return a spelling for each text; no two are equal after `fold`.

    Portable texts come first and keep their spelling, and sorted texts make the numbers at the
    ends of equal spellings independent of the order of the texts.
    """
    taken: set[str] = set()
    spelled: dict[str, str] = {}
    for text in sorted(texts, key=lambda text: (not is_portable(text), text)):
        plain = text if is_portable(text) else spell(text)
        free, number = plain, 1
        while fold(free) in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(fold(free))
        spelled[text] = free
    return spelled


def _is_portable_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in KEYWORDS and not _TRAP.search(name)


def _is_portable_state(state: str) -> bool:
    return bool(_STATE.fullmatch(state)) and state not in KEYWORDS


def _spell_name(text: str) -> str:
    """Return a portable name that resembles a text.

    >>> [_spell_name(text) for text in ("1st", "a b", "node", "table1", "", "É")]
    ['X1st', 'a_b', 'node_', 'table_1', 'X', 'E']
    """
    plain = re.sub("[^A-Za-z0-9_]+", "_", _to_ascii(text))
    plain = re.sub("(table|default)(?=[0-9eE])", r"\1_", plain)
    return _finish(plain, _is_portable_name)


def _spell_state(text: str) -> str:
    """Return a portable state that resembles a text.

    >>> [_spell_state(text) for text in ("10-20", ">= 5", "2.5", "table", "\u5973")]
    ['X10-20', 'ge_5', 'X2.5', 'table_', 'u5973']
    """
    return _finish(re.sub("[^A-Za-z0-9_.-]+", "_", _to_ascii(text)), _is_portable_state)


def _finish(plain: str, is_portable: Callable[[str], bool]) -> str:
    """Return a word with what it lacks: a first letter, as R's make.names adds it, or an end."""
    word = plain if re.match("[A-Za-z_]", plain) else f"X{plain}"
    return word if is_portable(word) else f"{word}_"


def _to_ascii(text: str) -> str:
    """Spell out comparisons, remove accents, and write other letters as their numbers."""
    spelled = _SYMBOL.sub(lambda match: _SPELLED[match[0]], text)
    spelled = re.sub(r"(?<=_)\s+", "", spelled)  # `>= 5` is `ge_5`
    decomposed = unicodedata.normalize("NFKD", spelled)
    return "".join(
        character if character.isascii() or not character.isalnum() else f"u{ord(character):04x}"
        for character in decomposed
        if not unicodedata.combining(character)
    )


def quote_original(text: str) -> str:
    r"""Return an original name or state in quotes, with only characters that no reader minds.

    >>> print(quote_original("body mass"), quote_original('5"; a node'))
    "body mass" "5\u0022\u003b a \u006eode"
    """
    hidden = {match.start() for match in _WORDS_OF_READERS.finditer(text)}
    inner = "".join(
        character if _SAFE.fullmatch(character) and place not in hidden else _escape(character)
        for place, character in enumerate(text)
    )
    return f'"{inner}"'


def _escape(character: str) -> str:
    """Return the escape of a character, as JSON has it: two for one beyond U+FFFF."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def read_original(text: str) -> str | None:
    """Return the name in the value of a property, or None if it holds no name of ours."""
    value = _load(text)
    return value if isinstance(value, str) else None


def read_originals(text: str) -> tuple[str, ...] | None:
    """Return the states in the value of a property, or None if it holds no states of ours."""
    value = _load(text)
    if isinstance(value, list) and all(isinstance(state, str) for state in value):
        return tuple(value)
    return None


def _load(text: str) -> Any:
    # Another tool may have kept the property without its quotes: then it is not ours any more.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
