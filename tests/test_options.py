"""Options are declared once: what a function takes is used, and nothing else is accepted."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from typing import ForwardRef

import numpy as np
import pytest

import coevo
from coevo import options
from coevo.errors import CoevoError
from coevo.options import TAKEN_BY, Option, get_defaults, list_options

GROUPS = [kind for kind in vars(options).values() if hasattr(kind, "__total__")]
NAMES = sorted({name for group in GROUPS for name in group.__annotations__})


def find_functions():
    """Return the public functions, and the public classes that take arguments, by name."""
    found = {name: getattr(coevo, name) for name in coevo.__all__}
    return {
        name: one
        for name, one in found.items()
        if not (inspect.isclass(one) and issubclass(one, BaseException))
    }


FUNCTIONS = find_functions()


def list_parameters(function):
    parameters = inspect.signature(function).parameters
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    return parameters


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_takes_an_option_that_it_does_not_name(name):
    function = FUNCTIONS[name]
    foreign = [option for option in NAMES if option not in list_parameters(function)]
    assert foreign
    for option in foreign:
        with pytest.raises(TypeError) as caught:
            function(**{option: 1})
        message = str(caught.value)
        assert re.search(rf"unexpected keyword argument '{option}'|takes no", message), message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("function", "option", "hint"),
    [
        (coevo.posterior, "bootstraps", "It is an option of learn and BayesianNetworkLearner."),
        (coevo.posterior, "prove", "It is an option of learn."),
        (coevo.cross_validate, "posterior", "It is an option of learn."),
        (coevo.cross_validate, "shards", "It is an option of learn and posterior."),
        (coevo.prove, "prove", "It is an option of learn."),
        (coevo.prove, "cluster", "It is an option of learn and posterior."),
        (coevo.check_proof, "max_table", "It is an option of learn and posterior."),
        (coevo.inspect_table, "missing", "It is an option of learn and posterior."),
        (coevo.measure_dependence, "strict", "It is an option of learn and posterior."),
        (coevo.prove, "bootstrap", ""),
        (coevo.prove, "max_tables", "Did you mean 'max_table'?"),
    ],
)
def test_the_refusal_says_where_an_option_belongs(function, option, hint):
    with pytest.raises(TypeError) as caught:
        function("no such file.csv", **{option: 3})
    expected = f"{function.__name__}() got an unexpected keyword argument {option!r}. {hint}"
    assert str(caught.value) == expected.strip()


@pytest.mark.parametrize("name", TAKEN_BY)
def test_signatures_are_those_of_the_declarations(name):
    function = FUNCTIONS[name]
    parameters, declared = list_parameters(function), list_options(TAKEN_BY[name])
    assert set(declared) <= set(parameters)
    for option, declaration in declared.items():
        assert parameters[option].default == declaration.default


def test_a_seed_has_one_default():
    defaults = {
        name: list_parameters(function)["random_state"].default
        for name, function in FUNCTIONS.items()
        if "random_state" in list_parameters(function)
    }
    assert {"learn", "sample", "run_search", "bootstrap_strength"} <= defaults.keys()
    assert set(defaults.values()) == {0}


CHECKED = [
    (name, option)
    for name, group in TAKEN_BY.items()
    for option, declared in list_options(group).items()
    if declared.rule is not None and not name.startswith("Bayesian")
]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    """Return the arguments of each function, for a table in a file where it takes one."""
    rows = coevo.sample(coevo.load_network("cancer"), 60, random_state=1)
    path = tmp_path_factory.mktemp("options") / "rows.csv"
    coevo.write_data(rows, path)
    return {
        "FamilyScorer": (rows,),
        "bootstrap_strength": (rows,),
        "measure_dependence": (path, "Smoker", "Cancer"),
        "check_proof": (coevo.prove(rows, score="bic").certificate, path),
        "default": (path,),
    }


@pytest.mark.parametrize(("name", "option"), CHECKED)
def test_every_function_validates_what_it_takes(name, option, arguments):
    """A value that no rule allows is refused by name."""
    with pytest.raises(CoevoError) as caught:
        FUNCTIONS[name](*arguments.get(name, arguments["default"]), **{option: np.array([3, 4])})
    assert str(caught.value).startswith(f"'{option}' of {name} must be ")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_every_option_is_declared(group):
    for name, kind in group.__annotations__.items():
        (declared,) = kind.__metadata__
        assert isinstance(declared, Option), name
        if isinstance(kind.__origin__, ForwardRef):  # it names a type; the type checker knows it
            assert kind.__origin__.__forward_arg__
        if declared.rule is not None and declared.default is not None:
            assert declared.rule.is_valid(declared.default), name
        if name != "weights":
            assert declared.help.endswith("."), name
        if declared.flags != "":
            assert any(flag.startswith("--") for flag in declared.list_flags(name))


def test_an_option_has_one_default_for_all_functions():
    """Only scorers differ: without a score of their own they have no default objective."""
    seen = {}
    for group in GROUPS:
        for name, default in get_defaults(group).items():
            if group is not options.ScorerOptions:
                assert seen.setdefault(name, default) == default


def test_help_and_documentation_describe_every_option():
    for name, group in TAKEN_BY.items():
        text = FUNCTIONS[name].__doc__
        if name in ("read_data", "FamilyScorer", "bootstrap_strength"):
            continue  # written by hand: they say more about fewer options
        for option in group.__annotations__:
            assert re.search(rf"^ *{option} : ", text, re.M), (name, option)
        assert "**options" not in text


def test_the_reference_has_every_option():
    place = Path(__file__).parents[1] / "docs" / "_ext" / "option_reference.py"
    spec = importlib.util.spec_from_file_location("option_reference", place)
    module = importlib.util.module_from_spec(spec)
    pytest.importorskip("sphinx")
    spec.loader.exec_module(module)
    table = module.format_options()
    rows = {line.split("`")[1]: line for line in table.splitlines()[2:]}
    assert set(rows) == {name for group in TAKEN_BY.values() for name in group.__annotations__}
    assert "`--max-table`" in rows["max_table"]
    assert "`coevo posterior`" in rows["max_table"]
    assert "`learn`" in rows["bootstraps"]
    assert "posterior" not in rows["bootstraps"].split("|")[4]
    assert all(line.count(" | ") == 4 for line in rows.values())
