"""Mutation testing: change one operator or number of the code, and see whether a test fails.

    pip install cosmic-ray        its operators make the mutants
    python -m mutants             from the folder tests: a sample of 400 mutants, with a seed
    python -m mutants --sample 50 --seed 1 --module graph/dag.py

Each mutant runs the doctests and the tests of its module until one fails, in a process that is
forked from one with the libraries loaded. The source tree is copied first; nothing here is changed.
What survives is printed with its line: it is a missing test, or a change that means the same.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 120.0  # a mutant that does not end is killed
LIBRARIES = ("numpy", "narwhals", "click", "rich", "pandas", "scipy.special")
FAST = "not hash_seed and not ctrl_c and not interrupt"  # without processes
OPERATORS = (
    *("AddNot", "NumberReplacer", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ZeroIterationForLoop"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceBreakWithContinue"),
    *("ReplaceContinueWithBreak", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Invert"),
    *("ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add"),
    *("ReplaceBinaryOperator_Mul_Add", "ReplaceBinaryOperator_Div_Mul"),
    *("ReplaceBinaryOperator_FloorDiv_Mul", "ReplaceBinaryOperator_Pow_Mul"),
    *("ReplaceBinaryOperator_BitAnd_BitOr", "ReplaceBinaryOperator_LShift_RShift"),
    *("ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_LtE_Lt"),
    *("ReplaceComparisonOperator_Gt_GtE", "ReplaceComparisonOperator_GtE_Gt"),
    *("ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq"),
    *("ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is"),
)
# The modules, each with its tests, the quickest first.
MODULES = {
    "graph/dag.py": ("graph/test_dag.py", "graph/test_comparison.py"),
    "graph/cpdag.py": ("graph/test_cpdag.py",),
    "graph/pdag.py": ("graph/test_pdag.py",),
    "graph/constraints.py": ("graph/test_constraints.py",),
    "graph/comparison.py": ("graph/test_comparison.py",),
    "graph/intervention.py": ("graph/test_intervention.py", "graph/test_comparison.py"),
    "score/scores.py": (
        "score/test_scores.py",
        "score/test_equivalence.py",
        "score/test_scorer.py",
        "score/test_regret.py",
    ),
    "score/families.py": ("score/test_families.py", "score/test_scorer.py"),
    "score/arcs.py": ("score/test_gains.py",),
    "score/independence.py": ("score/test_independence.py",),
    "search/loop.py": (
        "search/test_budget.py",
        "search/test_time_limits.py",
        "search/test_loop.py",
    ),
    "search/encoding.py": ("search/test_encoding.py", "search/test_cooperation.py"),
    "search/equivalence.py": ("search/test_equivalence.py",),
    "search/base.py": ("search/test_state_schema.py", "search/test_checkpoint_file.py"),
    "search/order_operators.py": ("search/test_order_operators.py",),
    "search/operators.py": ("search/test_operators.py",),
    "checks.py": ("test_names.py",),
    "files/output_files.py": ("test_output_files.py",),
    "runtime/randomness.py": ("test_randomness.py",),
    "signatures.py": ("test_signatures.py",),
    "data/bins.py": ("data/test_binning.py", "data/test_cut_points.py"),
    "data/prepare/column_numbers.py": (
        "data/test_column_decisions.py",
        "data/test_column_types.py",
    ),
    "data/dataset.py": ("data/test_dataset.py",),
    "data/prepare/dates.py": ("data/test_dates.py",),
    "data/prepare/missing_labels.py": ("data/test_cells.py", "data/test_column_decisions.py"),
    "data/prepare/number_formats.py": ("data/test_number_formats.py", "data/test_cells.py"),
    "data/prepare/rows.py": ("data/test_prepare_rows.py",),
    "network/elimination.py": ("network/test_inference.py", "network/test_work_limit.py"),
    "network/explain.py": ("network/test_explain.py", "network/test_work_limit.py"),
    "network/fit.py": ("network/test_fit.py",),
    "network/inference.py": (
        "network/test_inference.py",
        "network/test_likelihood_weighting.py",
        "network/test_work_limit.py",
        "network/test_sampling.py",
    ),
    "network/likelihood_weighting.py": ("network/test_likelihood_weighting.py",),
    "network/metrics.py": ("network/test_metrics.py",),
    "network/row_elimination.py": ("network/test_partial_rows.py", "network/test_work_limit.py"),
    "network/rows.py": (
        "network/test_rows.py",
        "network/test_partial_rows.py",
        "network/test_work_limit.py",
    ),
    "network/work_limit.py": ("network/test_work_limit.py",),
    "missing/imputations.py": ("missing/test_imputations.py",),
    "io/bif_reader.py": ("io/test_bif_reader.py",),
    "io/knowledge.py": ("io/test_knowledge.py",),
    "io/net.py": ("io/test_network_formats.py",),
    "io/portable_names.py": ("io/test_bif_writer.py", "io/test_network_formats.py"),
    "exact/bounds.py": ("exact/test_families.py", "exact/test_proofs.py"),
    "posteriors/consensus.py": ("posteriors/test_consensus.py",),
    "posteriors/diagnostics.py": ("posteriors/test_diagnostics.py",),
    "posteriors/chains.py": ("posteriors/test_chains.py",),
    "experiments/t_test.py": ("experiments/test_t_test.py",),
    "learning/dependence.py": ("learning/test_dependence.py",),
    "estimators/stacking.py": ("estimators/test_stacking.py",),
    "view/explorer.py": ("view/test_explorer.py",),
    "view/picture/scene.py": ("view/test_picture.py", "view/test_layout.py"),
    "problems/instance_files.py": ("problems/test_readers.py",),
    "progress/search_progress.py": ("progress/test_search_progress.py",),
    "view/figures.py": ("view/test_figures.py",),
    "studio/workspace.py": ("studio/test_learn_routes.py",),
    "studio/run_options.py": ("studio/test_learn_text.py",),
}


def list_mutants(module: str) -> list[tuple[str, str, int]]:
    """Return all mutants of a module: the module, the operator and its place."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    source = (ROOT / "src/coevo" / module).read_text()
    tree = get_ast(source)
    found = []
    for name in OPERATORS:
        operator = plugins.get_operator(f"core/{name}")()
        n = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(tree))
        found += [(module, name, number) for number in range(n)]
    return found


def make_mutant(source: str, name: str, number: int) -> str | None:
    """Return the source with one change; None for a change of an annotation or a docstring."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    changed = mutate_code(source, plugins.get_operator(f"core/{name}")(), number)
    return changed if changed is not None and changed != source else None


def run_tests(folder: Path, tests: tuple[str, ...]) -> int:
    """Return the exit code of the tests of a tree, in a forked process; -1 if it did not end."""
    pid = os.fork()
    if not pid:
        os.setsid()
        quiet = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(folder)
        sys.path[:0] = [str(folder / "src"), str(folder / "tests")]
        os.environ["PYTHONPATH"] = str(folder / "src")
        import pytest

        paths = [f"tests/{one}" for one in tests if (folder / "tests" / one).exists()]
        code = 99
        try:
            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-k", FAST, *paths]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    end = time.monotonic() + SECONDS
    while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return -1
        time.sleep(0.02)
    return os.waitstatus_to_exitcode(ended[1])


def main() -> None:
    """Try a sample of mutants; print those that survive, and how many did not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--module", action="append", help="a module (default: all)")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--unchecked", action="store_true", help="do not try the tests first")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    for name in LIBRARIES:
        importlib.import_module(name)
    chosen = options.module or list(MODULES)
    mutants = [mutant for module in chosen for mutant in list_mutants(module)]
    sample = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    print(f"{len(mutants):,} mutants, {len(sample):,} of them tried", flush=True)
    counts = {"killed": 0, "without end": 0, "survived": 0, "no mutant": 0}
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for part in ("src", "tests", "pyproject.toml", "scripts", "examples", "docs"):
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, folder / part)
        for tests in () if options.unchecked else sorted({MODULES[one[0]] for one in sample}):
            if run_tests(folder, tests) != 0:
                print((folder / "output").read_text())
                sys.exit(f"{tests} fail without a mutant.")
        for module, name, number in sample:
            if time.monotonic() > end:
                break
            counts[try_mutant(folder, module, name, number)] += 1
            if sum(counts.values()) % 25 == 0:
                print(json.dumps(counts), file=sys.stderr, flush=True)
    print(json.dumps(counts))


def try_mutant(folder: Path, module: str, name: str, number: int) -> str:
    """Return what became of a mutant; print one that survived."""
    path = folder / "src/coevo" / module
    source = path.read_text()
    changed = make_mutant(source, name, number)
    if changed is None:
        return "no mutant"
    path.write_text(changed)
    try:
        code = run_tests(folder, (f"../src/coevo/{module}", *MODULES[module]))
    finally:
        path.write_text(source)
    if code != 0:
        return "without end" if code == -1 else "killed"
    lines = difflib.unified_diff(
        source.splitlines(), changed.splitlines(), module, f"{module} {name}", n=0
    )
    print("\n".join(line for line in lines if not line.startswith("---")), flush=True)
    return "survived"


if __name__ == "__main__":
    main()
