"""The methods by name."""

from __future__ import annotations

from typing import Any

from coevo.errors import bad_choice, bad_parameter
from coevo.search.ccga import CCGA
from coevo.search.contract import Method
from coevo.search.k2 import K2

__all__ = ["METHODS", "make_method"]

METHODS: dict[str, type[Method]] = {method.name: method for method in (CCGA, K2)}


def make_method(method: str | Method, owner: str, **settings: Any) -> Method:
    """Return a method by name, with settings, or check that it is one already.

    >>> make_method("ccga", "learn", population=50).name
    'ccga'
    >>> make_method("ccgo", "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'method' of learn must be one of 'ccga', 'k2'; got 'ccgo'. \
Did you mean 'ccga'?
    """
    if isinstance(method, Method) and not settings:
        return method
    if not isinstance(method, str):
        raise bad_parameter("method", owner, "the name of a method or a Method", method)
    if method not in METHODS:
        raise bad_choice("method", owner, METHODS, method)
    return METHODS[method](**settings)
