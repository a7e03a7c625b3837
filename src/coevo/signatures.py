"""Functions that share keyword options: the options are listed once, in a `TypedDict`.

Type checkers read ``**options: Unpack[SomeOptions]``. `accept_options` adds what they do at run
time: an unknown name is a `TypeError` with a suggestion, ``help`` and the documentation show
every option with its default, and the function receives the defaults that are shown.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from coevo.errors import suggest_match

__all__ = ["accept_options"]

Function = TypeVar("Function", bound=Callable[..., Any])


def accept_options(
    options: type, defaults: Mapping[str, Any], **own_defaults: Any
) -> Callable[[Function], Function]:
    """Return a decorator for a function that takes the keys of a `TypedDict` as ``**options``.

    `defaults` are shown in the signature and passed to the function; `own_defaults` replace some
    of them.

    >>> from typing import TypedDict, Unpack
    >>> class Colours(TypedDict, total=False):
    ...     line: str
    >>> @accept_options(Colours, {"line": "black"})
    ... def draw(size, **options: Unpack[Colours]): return size, options
    >>> draw(3, line="red"), str(inspect.signature(draw))
    ((3, {'line': 'red'}), "(size, *, line: 'str' = 'black')")
    >>> draw(3)
    (3, {'line': 'black'})
    >>> draw(3, lime="red")
    Traceback (most recent call last):
    TypeError: draw() got an unexpected keyword argument 'lime'. Did you mean 'line'?
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        applied = {**defaults, **own_defaults}
        applied = {name: applied[name] for name in options.__annotations__}
        given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        own = [p for p in given if p.kind is p.KEYWORD_ONLY]
        first = [p for p in given if p.kind is not p.KEYWORD_ONLY]
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=applied[name],
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for name, kind in options.__annotations__.items()
        ]
        parameters = [*first, *shown, *own]
        names = [parameter.name for parameter in parameters]

        @functools.wraps(function)
        def accept(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs:
                if name not in names:
                    raise TypeError(
                        f"{function.__qualname__}() got an unexpected keyword argument {name!r}."
                        f"{suggest_match(name, names)}"
                    )
            return function(*args, **{**applied, **kwargs})

        accept.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return accept  # type: ignore[return-value]

    return decorate
