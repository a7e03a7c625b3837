"""Make numba's compiler faster, in the processes of the warm-up, which do nothing but compile.

While coevo's kernels are compiled, numba compares its options and copies the names of variables
hundreds of thousands of times, attribute by attribute, and it finds out 7,000 times what an
operator returns for 300 combinations of types. The functions below give the same results as those
that they replace, in less time. They save a fifth of the warm-up. What they need to know of numba
is checked first: another version than expected is left as it is.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, targetconfig
from numba.core import types as numba_types

__all__ = ["make_numba_faster"]

SCOPE = {"parent", "localvars", "loc", "redefined", "var_redefinitions"}  # attributes of a scope
VARIABLE = {"scope", "name", "loc"}
types: Any = numba_types  # its members are not declared
PLAIN_TYPES = (types.Number, types.Boolean, types.Array, types.BaseTuple)


def make_numba_faster() -> None:
    """Replace slow functions of numba by faster ones with the same results."""
    config = targetconfig.TargetConfig
    if getattr(config, "__slots__", None) == ["_values"]:
        config.__hash__ = _hash_options
        config.__eq__ = _have_equal_options
    scope = ir.Scope(None, ir.Loc("", 0))
    variable = scope.define("a", scope.loc)
    if (
        vars(scope).keys() == SCOPE
        and vars(variable).keys() == VARIABLE
        and vars(scope.localvars) == {"_con": {"a": variable}}
    ):
        ir.Scope.__deepcopy__ = _copy_scope
    _remember_operators(types.Function)


def _hash_options(self: Any) -> int:
    return hash(type(self).__name__)


def _have_equal_options(self: Any, other: Any) -> Any:
    if not isinstance(other, targetconfig.TargetConfig):
        return NotImplemented
    # Equal settings mean equal options; unequal settings may spell out a default.
    if type(self) is type(other) and self._values == other._values:
        return True
    return self.values() == other.values()


def _copy_scope(self: Any, memo: dict[int, Any]) -> Any:
    copy = ir.Scope(self.parent, self.loc)
    memo[id(self)] = copy
    for name, variable in self.localvars._con.items():
        twin = ir.Var(copy, variable.name, variable.loc)
        memo[id(variable)] = twin
        copy.localvars.define(name, twin)
    copy.redefined.update(self.redefined)
    for name, versions in self.var_redefinitions.items():
        copy.var_redefinitions[name] = set(versions)
    return copy


def _remember_operators(function: Any) -> None:
    """Let operators remember what they return for plain types of arguments."""
    infer = function.get_call_type
    remembered: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        is_operator = getattr(self.typing_key, "__module__", None) == "_operator"
        if not is_operator or kws or not all(map(_is_plain, args)):
            return infer(self, context, args, kws)
        key = (self, context, args)
        if key not in remembered:
            remembered[key] = infer(self, context, args, kws)
        return remembered[key]

    function.get_call_type = get_call_type


def _is_plain(argument: Any) -> bool:
    return isinstance(types.unliteral(argument), PLAIN_TYPES)
