"""Options of a search one by one, as tests list them, in the form that `learn` takes."""

from __future__ import annotations

import coevo
from coevo.options import HOME

__all__ = ["as_values"]


def as_values(options):
    """Return single options as arguments of `learn`: a budget, an objective, how to read."""
    inside, arguments = {}, {}
    for name, value in options.items():
        if name in HOME:
            inside.setdefault(HOME[name], {})[name] = value
        else:
            arguments[name] = value
    for home, given in inside.items():
        if home == "score":
            arguments["score"] = coevo.Objective(arguments.get("score"), **given)
        else:
            arguments[home] = {**(arguments.get(home) or {}), **given}
    return arguments
