"""The registry of search methods by name."""

from __future__ import annotations

from typing import Any

from coevo.errors import bad_choice, bad_parameter
from coevo.search.base import Method
from coevo.search.ccga import CCGA
from coevo.search.ccma import CCMA
from coevo.search.hill_climb import HillClimb
from coevo.search.islands import Islands
from coevo.search.k2 import K2
from coevo.search.mmhc import MMHC
from coevo.search.pc import PC
from coevo.search.tabu import Tabu

__all__ = ["METHODS", "make_method"]

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (CCGA, CCMA, HillClimb, Islands, K2, MMHC, PC, Tabu)
}


def make_method(method: str | Method, owner: str, **settings: Any) -> Method:
    """Return the method of this name with these settings; return a `Method` unchanged.

    >>> make_method("ccga", "learn", population=50).name
    'ccga'
    >>> make_method("tabo", "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'method' of learn must be one of 'ccga', 'ccma', \
'hill_climb', 'islands', 'k2', 'mmhc', 'pc', 'tabu'; got 'tabo'. Did you mean 'tabu'?
    """
    if isinstance(method, Method) and not settings:
        return method
    if not isinstance(method, str):
        raise bad_parameter("method", owner, "the name of a method or a Method", method)
    if method not in METHODS:
        raise bad_choice("method", owner, METHODS, method)
    return METHODS[method](**settings)
