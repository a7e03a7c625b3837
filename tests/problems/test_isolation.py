"""The package of other problems shares little with the code for networks, and is not used by it."""

from test_package import MODULES, imported

ALLOWED = {
    *(
        "coevo.__version__",
        "coevo.files.checkpoints",
        "coevo.checks",
        "coevo.errors",
        "coevo.files.files",
    ),
    *(
        "coevo.engine",
        "coevo.runtime.deadline",
        "coevo.lazy_names",
        "coevo.files.files",
        "coevo.runtime.memory",
        "coevo.view.picture",
    ),
    *(
        "coevo.problems",
        "coevo.runtime.randomness",
        "coevo.files.run_folder",
        "coevo.files.run_folder",
    ),
    *("coevo.search", "coevo.runtime.deadline"),
}
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
                assert ".".join(name.split(".")[:2]) in ALLOWED, f"{module} imports {name}"
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
