"""Methods from outside coevo in a comparison: what they are, and whether they work.

A trial on a small table finds a method that breaks the interface before the first run. Other errors
of a method belong to its runs: they are recorded there.
"""

from __future__ import annotations

import contextlib
from functools import cache
from importlib.metadata import packages_distributions, version

from coevo import __version__
from coevo.bundled import load_network
from coevo.errors import MethodError
from coevo.network import sample
from coevo.score import Score
from coevo.search import Budget, choose_method, make_spec
from coevo.search.registry import find_code_hash, is_own_method

__all__ = ["describe_implementation", "find_method_hash", "find_method_version", "try_method"]

TRIAL_ROWS, TRIAL_GENERATIONS, TRIAL_SECONDS = 100, 6, 10.0


def try_method(method: str, score: Score) -> None:
    """Run a method on a small table. Raise `MethodError` if it breaks the interface of methods."""
    chosen = choose_method(method, "bench").method
    budget = Budget(max_generations=TRIAL_GENERATIONS, max_time=TRIAL_SECONDS)
    spec = make_spec("bench", method=chosen, score=score, budget=budget, random_state=0)
    scorer = spec.make_scorer(sample(load_network("asia"), TRIAL_ROWS, 0))
    if not is_own_method(chosen):
        spec.run(scorer)
        return
    try:
        spec.run(scorer)
    except MethodError:
        raise
    except Exception:  # the runs of the method record its errors
        return


def find_method_hash(method: str) -> str | None:
    """Return the hash of the code of a method from outside coevo; None for the others."""
    return find_code_hash(choose_method(method, "bench").method)


@cache
def find_method_version(method: str) -> str | None:
    """Return the version of the package of a method; None if it is in no package."""
    chosen = choose_method(method, "bench").method
    if not is_own_method(chosen):
        return __version__
    top = type(chosen).__module__.partition(".")[0]
    for distribution in packages_distributions().get(top, ()):
        with contextlib.suppress(ModuleNotFoundError):
            return version(distribution)
    return None


def describe_implementation(method: str) -> str:
    """Return the package and the version of a method, and the class of an own method.

    >>> describe_implementation("ccma:orders=40") == f"coevo {__version__}"
    True
    """
    chosen = choose_method(method, "bench").method
    if not is_own_method(chosen):
        return f"coevo {__version__}"
    kind, found = type(chosen), find_method_version(method)
    return f"{kind.__module__}.{kind.__qualname__}{f' {found}' if found else ''}"
