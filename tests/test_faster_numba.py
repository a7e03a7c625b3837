"""The faster functions give the results of those that they replace in numba."""

from __future__ import annotations

import copy
import itertools
import operator
import subprocess
import sys

import numba
import pytest
from llvmlite import ir as llvm
from numba.core import analysis, compiler, errors, ir, targetconfig, types
from numba.core.registry import cpu_target
from numba.core.runtime.context import NRTContext

from coevo import faster_liveness, faster_numba

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the JIT is off")


def make_options():
    """Return options that are equal or differ, some with a default spelled out."""
    made = [compiler.Flags() for _ in range(5)]
    made[1].nrt = True
    made[2].nrt = False  # the default
    made[3].nrt = True
    made[3].inline = "always"
    return [*made, made[3].copy(), targetconfig.TargetConfig()]


def test_options_are_compared_as_numba_does():
    for one, other in itertools.product(make_options(), repeat=2):
        is_equal = one.values() == other.values()
        assert faster_numba._have_equal_options(one, other) is is_equal
        if is_equal and type(one) is type(other):
            assert faster_numba._hash_options(one) == faster_numba._hash_options(other)
    assert faster_numba._have_equal_options(make_options()[0], 1) is NotImplemented


def describe(scope):
    return (
        {name: (v.name, v.loc, v.scope is scope) for name, v in scope.localvars._con.items()},
        dict(scope.redefined),
        dict(scope.var_redefinitions),
        scope.loc,
        scope.parent,
    )


def test_a_scope_is_copied_as_numba_does():
    loc = ir.Loc("file.py", 7)
    scope = ir.Scope(None, loc)
    for name in ["a", "b", "a", "a", "$c"]:
        scope.redefine(name, loc)
    variable = scope.get_exact("a.1")
    memo = {}
    twin = faster_numba._copy_scope(scope, memo)
    assert describe(twin) == describe(copy.deepcopy(scope)) == describe(scope)
    assert memo[id(variable)] is twin.get_exact("a.1") is not variable
    twin.redefine("b", loc)
    assert "b.1" not in scope.localvars


def test_operators_are_asked_once_for_the_same_plain_types():
    asked = []

    class Function:
        typing_key = operator.add

        def get_call_type(self, context, args, kws):
            asked.append(args)
            return cpu_target.typing_context.resolve_function_type(operator.add, args, kws)

    faster_numba._remember_operators(Function)
    function, context = Function(), cpu_target.typing_context
    context.refresh()
    pairs = [(types.int64, types.int64), (types.int64, types.float64)]
    found = [function.get_call_type(context, pair, {}) for pair in 2 * pairs]
    assert [one.return_type for one in found] == 2 * [types.int64, types.float64]
    assert asked == pairs
    texts = (types.intp, types.unicode_type)  # not plain, so numba decides each time
    for _ in range(2):
        with pytest.raises(errors.TypingError):
            function.get_call_type(context, texts, {})
    assert asked[2:] == [texts, texts]


SCRIPT = """
import copy
import numba, numpy as np
from numba.core import inline_closurecall, ir
from coevo.faster_numba import make_numba_faster
from coevo.jit import inline, part

def halve(value):
    return value // 2 if value % 2 == 0 else value

def make(decorated, plain):
    inner = plain(halve)

    def weigh(value):
        return inner(value) + 1 if value > 0 else inner(value + 4)

    inlined, called = plain(weigh), decorated(lambda total, arity: total.sum() / arity)

    def count(values, arity):
        counts = np.zeros(arity, dtype=np.int64)
        for i in range(len(values)):
            counts[values[i] % arity] += inlined(values[i])
        return called(counts, arity) + counts[0] * 2 + inlined(arity) + called(counts, 2 * arity)

    return count

values = np.arange(100)
expected = make(lambda f: f, lambda f: f)(values, 7)
assert numba.njit(make(part, inline))(values, 7) == expected
make_numba_faster()
copies = inline_closurecall.copy
assert copies is not copy and copies.are_needed and copies.deepcopy([[1]]) == [[1]]
assert ir.Scope.__deepcopy__.__name__ == "_copy_scope"  # this version of numba is as expected
counting = numba.core.runtime.context.NRTContext
assert counting.get_meminfos.__module__ == "coevo.faster_numba"
library = numba.core.codegen.JITCodeLibrary
assert library._finalize_final_module.__name__ == "finish_kernel"
finish, parts = library._finalize_final_module, []
library._finalize_final_module = lambda self: (parts.append(hasattr(self, "is_part")), finish(self))
assert numba.njit(make(part, inline))(values, 7) == expected
assert True in parts and False in parts
assert numba.core.analysis.compute_live_map.__module__ == "coevo.faster_liveness"
assert numba.core.analysis.compute_use_defs.__module__ == "coevo.faster_liveness"
load = numba.core.cpu.CPUContext.load_additional_registries
assert load.__name__ == "load_once"
from llvmlite.binding import ffi
assert ffi.lib._lock._cblist == []
"""


def test_a_function_compiles_to_the_same_results():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def walk(values, limit):
    """Do nothing useful, with loops, branches and variables that die in the middle."""
    total, last = 0, -1
    for i in range(len(values)):
        here = values[i]
        while here > limit:
            here -= 1
            if here == last:
                break
            total += here
        else:
            last = here
        if total > 100:
            return total
        values[i] = here
    del last
    return total - limit


def drop(values):
    """Have a dead end."""
    if not len(values):
        raise ValueError("empty")
    return values[0]


@pytest.mark.parametrize("function", [walk, drop, describe, make_options])
def test_variables_are_followed_as_numba_does(function):
    blocks = compiler.run_frontend(function).blocks
    found, expected = faster_liveness.compute_use_defs(blocks), analysis.compute_use_defs(blocks)
    assert found == expected
    assert any(expected.usemap.values()) or len(blocks) == 1
    graph = analysis.compute_cfg_from_blocks(blocks)
    assert faster_liveness.compute_live_map(graph, blocks, *found) == analysis.compute_live_map(
        graph, blocks, *expected
    )


def test_the_variables_of_an_instruction_are_listed_as_numba_does():
    scope = ir.Scope(None, ir.Loc("file.py", 7))
    a, b, c = (scope.define(name, scope.loc) for name in "abc")
    call = ir.Expr.call(a, [b, c], {"k": b}, scope.loc)
    inner = ir.Assign(call, c, scope.loc)
    list_vars = faster_numba._make_list_vars(ir.Inst)
    for value in (a, call, inner, [a, (b, call)], {"x": call, "y": 3}, "text", None, 2.5, [1, "b"]):
        expected = ir.Inst._rec_list_vars(call, value)
        assert [id(one) for one in list_vars(call, value)] == [id(one) for one in expected]


def trace(value):
    """Return the places, from the inside to the outside, of a value that was taken out."""
    path = []
    while isinstance(value, llvm.instructions.ExtractValue):
        path += value.indices
        value = value.operands[0]
    return path


def test_references_are_counted_as_numba_does():
    class Counting(NRTContext):
        pass

    faster_numba._take_only_counted_fields(Counting)
    target = cpu_target.target_context
    row, matrix = types.Array(types.int32, 1, "C"), types.Array(types.float64, 2, "C")
    kinds = [row, types.Tuple([types.int64, row, matrix]), types.UniTuple(row, 2), types.int64]
    kinds += [types.UniTuple(types.int64, 3), types.Tuple([types.boolean, kinds[1], types.intp])]
    for kind, n_arrays in zip(kinds, [1, 2, 2, 0, 0, 2], strict=True):
        found = []
        for counting in (NRTContext, Counting):
            value_type = target.get_value_type(kind)
            function = llvm.Function(
                llvm.Module(), llvm.FunctionType(llvm.VoidType(), [value_type]), "f"
            )
            builder = llvm.IRBuilder(function.append_basic_block())
            counted = counting(target, True).get_meminfos(builder, kind, function.args[0])
            found.append([(one, trace(value)) for one, value in counted])
        assert found[0] == found[1]
        assert len(found[0]) == n_arrays
        assert len(builder.block.instructions) < 3 * n_arrays + 3


def test_a_new_context_loads_its_registries_even_at_the_address_of_an_old_one():
    loaded = []

    class Context:
        def load_additional_registries(self):
            loaded.append(id(self))

    faster_numba._load_registries_once(Context)
    for _ in range(50):  # each is gone before the next one is made
        context = Context()
        context.load_additional_registries()
        context.load_additional_registries()
        del context
    assert len(loaded) == 50
    assert len(set(loaded)) < 50  # an address came again
