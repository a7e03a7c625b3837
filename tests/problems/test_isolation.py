"""The package of other problems shares little with the code for networks, and is not used by it."""

from test_package import MODULES, imported

ALLOWED = (
    *("coevo.__version__", "coevo.checks", "coevo.engine", "coevo.errors", "coevo.files"),
    *("coevo.lazy_names", "coevo.problems", "coevo.runtime", "coevo.search", "coevo.view.picture"),
)
FROM_SEARCH = {
    *("Budget", "Cooperation", "Generation", "GenerationLoop", "Species", "StopReason"),
    *("cycle_crossover", "draw_orders", "flip_bits", "n_bits", "swap_two", "two_point_crossover"),
    "Solutions",
    *("PERMUTATIONS", "Array", "Number", "Schema", "find_flaw", "make_range"),
}


def test_what_the_package_imports():
    for module in MODULES:
        if module.startswith("coevo.problems"):
            for _, name in imported(module):
                assert f"{name}.".startswith(tuple(f"{one}." for one in ALLOWED)), (
                    f"{module} imports {name}"
                )
                if name.startswith("coevo.search"):
                    assert name.split(".")[-1] in FROM_SEARCH, f"{module} imports {name}"


def test_only_its_command_imports_it():
    users = {
        module
        for module in MODULES
        for _, name in imported(module)
        if name.startswith("coevo.problems") and not module.startswith("coevo.problems")
    }
    assert users == {"coevo.cli.solve"}
