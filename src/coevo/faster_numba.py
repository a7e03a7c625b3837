"""Make numba's compiler faster, in the processes of the warm-up, which do nothing but compile.

While coevo's kernels are compiled, numba compares its options and copies the names of variables
hundreds of thousands of times, attribute by attribute, and it finds out 7,000 times what an
operator returns for 300 combinations of types. It looks for variables in two million parts of
instructions, and it follows them through the blocks as sets of names (`coevo.faster_liveness`). To
count a reference to an array it takes out all nine fields of the array, where it needs one. It
copies each inlined function twice, block by block, although it has just made it for this one
place. It imports the same forty modules before each of two thousand steps, and it reports each of
fifty thousand calls of LLVM, although nobody listens. And it optimises each part of a kernel and
makes machine code of it, although only the machine code of the kernel is used. The functions below
give the same results as those that they replace, in less time. What they need to know of numba is
checked first: another version than expected is left as it is.
"""

from __future__ import annotations

import copy
import inspect
import weakref
from typing import Any

from llvmlite.binding import ffi
from numba import _dynfunc
from numba.core import analysis, codegen, cpu, inline_closurecall, ir, targetconfig
from numba.core import types as numba_types
from numba.core.runtime.context import NRTContext

from coevo import faster_liveness

__all__ = ["make_numba_faster"]

INLINE_NAMES = ("run_untyped_passes", "__code__", "co_freevars", "inline_ir")
SCOPE = {"parent", "localvars", "loc", "redefined", "var_redefinitions"}  # attributes of a scope
VARIABLE = {"scope", "name", "loc"}
COUNTING_NAMES = (
    "_context",
    "data_model_manager",
    "traverse",
    "has_nrt_meminfo",
    "get_nrt_meminfo",
    "append",
    "get_meminfos",
    "extend",
)
LEAVES = {str, int, float, bool, type(None), ir.Loc}  # they hold no variables
types: Any = numba_types  # its members are not declared
UNCOUNTED = (types.Number, types.Boolean, types.CPointer, types.PyObject)
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
    ir.Inst._rec_list_vars = _make_list_vars(ir.Inst)
    _inline_without_copies(inline_closurecall)
    _take_only_counted_fields(NRTContext)
    _make_no_code_of_parts(codegen.JITCodeLibrary, cpu.CPUContext)
    _follow_variables_faster(analysis)
    _load_registries_once(cpu.CPUContext)
    getattr(ffi.lib._lock, "_cblist", []).clear()  # who hears of each call of LLVM


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


class _Copies:
    """The functions of the module `copy` that numba's inlining calls."""

    def __init__(self) -> None:
        self.are_needed = True

    def deepcopy(self, value: Any) -> Any:
        """Return a copy; the value itself while copies are not needed."""
        return copy.deepcopy(value) if self.are_needed else value


def _inline_without_copies(inlining: Any) -> None:
    """Let numba inline the function that it has made, not a copy of a copy of it.

    `InlineWorker.inline_function` makes the code of a function for one call and then drops it. It
    is safe to change this code. Where types are known already, numba needs the copies.
    """
    worker = inlining.InlineWorker
    parameters = ["self", "caller_ir", "block", "i", "function", "arg_typs"]
    if (
        inlining.copy is not copy
        or list(inspect.signature(worker.inline_function).parameters) != parameters
        or worker.inline_function.__code__.co_names != INLINE_NAMES
        or "_permit_update_type_and_call_maps" not in worker.__init__.__code__.co_names
    ):
        return
    inlining.copy = copies = _Copies()

    def inline_function(
        self: Any, caller_ir: Any, block: Any, i: int, function: Any, arg_typs: Any = None
    ) -> Any:
        callee_ir = self.run_untyped_passes(function)
        free = function.__code__.co_freevars
        copies.are_needed = self._permit_update_type_and_call_maps
        try:
            return self.inline_ir(caller_ir, block, i, callee_ir, free, arg_typs=arg_typs)
        finally:
            copies.are_needed = True

    worker.inline_function = inline_function


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


def _make_list_vars(inst: Any) -> Any:
    """Return a faster function that lists the variables in a part of an instruction."""
    list_any, variable = inst._rec_list_vars, ir.Var

    def list_vars(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is variable:
            return [value]
        if kind is dict:
            value = value.values()
        elif kind is not list and kind is not tuple:
            found: list[Any] = list_any(self, value)
            return found
        listed = []
        for part in value:
            kind = type(part)
            if kind is variable:
                listed.append(part)
            elif kind not in LEAVES:
                listed += list_vars(self, part)
        return listed

    return list_vars


def _take_only_counted_fields(counting: Any) -> None:
    """Let numba take out of an array only what it needs to count references to it.

    LLVM drops the other fields anyway. They are a third of the instructions of coevo's kernels.
    """
    if counting.get_meminfos.__code__.co_names != COUNTING_NAMES:
        return

    def get_meminfos(self: Any, builder: Any, ty: Any, val: Any) -> list[Any]:
        model = self._context.data_model_manager[ty]
        counted = []
        if model.has_nrt_meminfo():
            counted.append((ty, model.get_nrt_meminfo(builder, val)))
        for kind, take in model.traverse(builder):
            if not _is_uncounted(kind):
                counted += get_meminfos(self, builder, kind, take(val))
        return counted

    counting.get_meminfos = get_meminfos


def _is_uncounted(kind: Any) -> bool:
    """Return whether a type, of a field of an array or a tuple, surely holds no array."""
    if isinstance(kind, types.UniTuple):
        kind = kind.dtype
    return isinstance(kind, UNCOUNTED)


USE_DEFS_NAMES = (
    "items",
    "set",
    "body",
    "type",
    "ir_extension_usedefs",
    "isinstance",
    "ir",
    "Assign",
    "value",
    "Inst",
    "list_vars",
    "Var",
    "name",
    "Arg",
    "Const",
    "Global",
    "FreeVar",
    "AssertionError",
    "target",
    "add",
    "_use_defs_result",
)
LIVE_MAP_NAMES = ("topo_order", "keys", "set", "defaultdict")


def _follow_variables_faster(module: Any) -> None:
    """Let numba find where variables are used and alive in less time."""
    if module.compute_use_defs.__code__.co_names == USE_DEFS_NAMES:
        module.compute_use_defs = faster_liveness.compute_use_defs
    if module.compute_live_map.__code__.co_names == LIVE_MAP_NAMES:
        module.compute_live_map = faster_liveness.compute_live_map


def _load_registries_once(context: Any) -> None:
    """Let a context import what it knows of other modules once, not before each step."""
    load = context.load_additional_registries
    loaded: weakref.WeakSet[Any] = weakref.WeakSet()  # ids of contexts that are gone come again

    def load_once(self: Any) -> None:
        if self not in loaded:
            loaded.add(self)
            load(self)

    context.load_additional_registries = load_once


LIBRARY = (
    "_finalize_dynamic_globals",
    "_finalize_final_module",
    "_optimize_final_module",
    "_verify_declare_only_symbols",
)


def _make_no_code_of_parts(library: Any, context: Any) -> None:
    """Leave the optimisation and the machine code to the kernels that the parts are linked into.

    A part is a function without a wrapper for Python. So nothing can call it but a kernel, and a
    kernel has its own copy of it.
    """
    parameters = list(inspect.signature(context.get_executable).parameters)
    if parameters != ["self", "library", "fndesc", "env"]:
        return
    if not all(hasattr(library, name) for name in LIBRARY):
        return
    get_executable = context.get_executable
    finish, optimise = library._finalize_final_module, library._optimize_final_module

    def get_executable_of_kernel(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if not _is_part(library, fndesc):
            return get_executable(self, library, fndesc, env)
        library.is_part = True
        name, no_address = fndesc.qualname.split(".")[-1], 0
        return _dynfunc.make_function(fndesc.lookup_module(), name, "", no_address, env, (library,))

    def finish_kernel(self: Any) -> None:
        if not getattr(self, "is_part", False):
            finish(self)
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def optimise_kernel(self: Any) -> None:
        if not getattr(self, "is_part", False):
            optimise(self)

    context.get_executable = get_executable_of_kernel
    library._finalize_final_module = finish_kernel
    library._optimize_final_module = optimise_kernel


def _is_part(library: Any, fndesc: Any) -> bool:
    """Return whether a compiled function has no wrapper for Python."""
    try:
        library.get_function(fndesc.llvm_cpython_wrapper_name)
    except NameError:
        return True
    return False
