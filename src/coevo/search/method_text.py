"""A method as a text: its name or its class, and its settings.

    hill_climb                         a method of coevo, or of an installed package
    hill_climb:restarts=5              with settings
    ccma:orders=40,patience=20         settings, and limits of the search (`Budget`)
    mypackage.search:Annealing         a class of a module
    path/to/search.py:Annealing        a class of a file
    search.py:Annealing:steps=500      with settings

`coevo.search.registry` turns such a text into a method.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coevo.errors import ParameterError

__all__ = ["MethodText", "split_methods"]

_CLASS = re.compile(r"(?P<source>.+?\.py|[^:=]+):(?P<name>[^:=]+)(?::(?P<settings>.*))?")
_NAME = re.compile(r"(?P<name>[^:=]+)(?::(?P<settings>.*))?")
_SETTING = re.compile(r"[^:=]+=")
_WORDS: dict[str, Any] = {"none": None, "true": True, "false": False}


@dataclass(frozen=True)
class MethodText:
    """A parsed text. `source` is the module or the file of a class; a name has none."""

    name: str
    source: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> MethodText:
        """Parse a text; raise `ParameterError` if it is malformed.

        >>> MethodText.parse("ccma:orders=40,patience=20").settings
        {'orders': 40, 'patience': 20}
        >>> found = MethodText.parse("lab/search.py:Annealing:cooling=0.9")
        >>> found.source, found.name, found.settings
        ('lab/search.py', 'Annealing', {'cooling': 0.9})
        """
        found = _CLASS.fullmatch(text) or _NAME.fullmatch(text)
        if found is None:
            return cls(text)  # no method has such a name
        parts = found.groupdict()
        settings = _parse_settings(text, parts["settings"] or "")
        return cls(parts["name"].strip(), parts.get("source"), settings)


def _parse_settings(text: str, listed: str) -> dict[str, Any]:
    """Return the settings of a list with commas."""
    settings: dict[str, Any] = {}
    for item in filter(None, listed.split(",")):
        name, mark, value = (part.strip() for part in item.partition("="))
        if not (name and mark and value):
            raise ParameterError(
                f"{item!r} of {text!r} is not a setting. Write NAME=VALUE, as in "
                "hill_climb:restarts=5."
            )
        if name in settings:
            raise ParameterError(f"{text!r} gives {name!r} twice.")
        settings[name] = _parse_value(value)
    return settings


def _parse_value(text: str) -> Any:
    """Return a number, a truth value, None or a text.

    >>> [_parse_value(text) for text in ("40", "0.5", "true", "none", "fast")]
    [40, 0.5, True, None, 'fast']
    """
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return _WORDS.get(text.lower(), text)


def split_methods(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the methods of lists with commas; a setting belongs to the method before it.

    >>> split_methods(["ccma:orders=40,patience=20,k2", "tabu"])
    ('ccma:orders=40,patience=20', 'k2', 'tabu')
    >>> split_methods(["ccma,patience=20"])  # as it was meant
    ('ccma:patience=20',)
    """
    methods: list[str] = []
    for text in texts:
        first = len(methods)
        for item in (part.strip() for part in text.split(",")):
            if _SETTING.match(item) and len(methods) > first:
                begin = methods[-1].removesuffix(":")
                methods[-1] = f"{begin}{',' if '=' in begin else ':'}{item}"
            elif item:
                methods.append(item)
    return tuple(methods)
