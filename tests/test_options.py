"""Options are declared once: what a function takes is used, and nothing else is accepted."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
from pathlib import Path
from typing import ForwardRef

import numpy as np
import pytest

import coevo
from coevo import options
from coevo.errors import CoevoError
from coevo.options import HOME, TAKEN_BY, Option, get_defaults, list_options

MODULES = (options.searches, options.tables, options.functions)
GROUPS = [
    kind for module in MODULES for kind in vars(module).values() if hasattr(kind, "__total__")
]
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
    known = {*list_parameters(function), *(FACES[name].__annotations__ if name in FACES else ())}
    foreign = [option for option in NAMES if option not in known]
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
        (coevo.cross_validate, "shards", "It is an option of ReadOptions."),
        (coevo.prove, "prove", "It is an option of learn."),
        (coevo.prove, "cluster", "It is an option of learn and posterior."),
        (coevo.check_proof, "max_table", "It is an option of bootstrap_strength and Objective."),
        (coevo.inspect_table, "missing", "It is an option of learn and posterior."),
        (coevo.measure_dependence, "strict", "It is an option of check_proof and inspect_table."),
        (coevo.prove, "bootstrap", ""),
        (coevo.prove, "max_parent", "Did you mean 'max_parents'?"),
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
        "ReadOptions": (),
        "Objective": (),
        "Budget": (),
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
        if name in ("FamilyScorer", "Budget"):
            continue  # written by hand
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


# -- the values that `learn` and its siblings take


FACES = {
    "learn": options.MovedOfLearn,
    "posterior": options.MovedOfPosterior,
    "prove": options.MovedOfProve,
    "cross_validate": options.MovedOfCrossValidate,
}
ROWS = coevo.sample(coevo.load_network("cancer"), 200, random_state=1)


def test_learn_names_what_people_name():
    names = list(list_parameters(coevo.learn))
    first = ["data", "score", "method", "constraints", "budget", "missing", "random_state", "read"]
    assert names[: len(first)] == first
    assert len(names) <= 20


@pytest.mark.parametrize(
    ("old", "new", "form"),
    [
        (
            {"max_generations": 3},
            {"budget": coevo.Budget(max_generations=3)},
            "budget=Budget(max_generations=3)",
        ),
        (
            {"score": "bdeu", "ess": 2.0, "max_table": None},
            {"score": coevo.Objective("bdeu", ess=2.0, max_table=None)},
            "score=Objective('bdeu', ess=2.0, max_table=None)",
        ),
        (
            {"drop": ["Xray"], "patience": 2},
            {"read": coevo.ReadOptions(drop=["Xray"]), "budget": {"patience": 2}},
            "budget=Budget(patience=2), read=ReadOptions(drop=['Xray'])",
        ),
        (
            {"roots": ["Smoker"], "constraints": {"leaves": ["Xray"]}},
            {"constraints": coevo.Constraints(roots=["Smoker"], leaves=["Xray"])},
            "constraints=Constraints(leaves=['Xray'], roots=['Smoker'])",
        ),
    ],
)
@pytest.mark.parametrize("name", FACES)
def test_old_keywords_work_and_name_the_new_form(name, old, new, form, tmp_path):
    path = tmp_path / "rows.csv"
    coevo.write_data(ROWS, path)
    function, more = FUNCTIONS[name], {"method": "hill_climb"}
    more |= {"cv": 2} if name == "cross_validate" else {}
    more |= {"bootstraps": 0} if name == "learn" else {}
    with pytest.warns(FutureWarning) as caught:
        before = function(path, **old, **more)
    single = {key: value for key, value in old.items() if key not in ("score", "constraints")}
    given = ", ".join(f"{key}={value!r}" for key, value in single.items())
    assert [str(one.message) for one in caught] == [
        f"{name}({given}) is now {name}({form}). The old keywords work until coevo 0.4."
    ]
    assert caught[0].filename == __file__
    after = function(path, **new, **more)
    measures = {
        "learn": lambda found: (found.score, found.dag, found.spec),
        "posterior": lambda found: (found.score, found.arcs.tolist()),
        "prove": lambda found: (found.score, found.bound, found.network.arcs),
        "cross_validate": lambda found: found.per_row.tolist(),
    }
    assert measures[name](before) == measures[name](after)


def test_every_old_keyword_is_part_of_a_value():
    for name, moved in FACES.items():
        shown = set(list_parameters(FUNCTIONS[name]))
        for option in moved.__annotations__:
            assert option in HOME
            assert option not in shown
        flat = set(options.FlatOptions.__annotations__)
        assert set(moved.__annotations__) <= flat


def test_the_table_may_have_its_old_name():
    with pytest.warns(FutureWarning, match=r"learn\(table=...\) is now learn\(data=...\)"):
        found = coevo.learn(table=ROWS, method="hill_climb", bootstraps=0)
    assert found.dag == coevo.learn(data=ROWS, method="hill_climb", bootstraps=0).dag


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ({"budget": 60}, CoevoError, "'budget' of learn must be a Budget, a dict or None; got 60."),
        ({"read": 3}, CoevoError, "'read' of learn must be ReadOptions, a dict or None; got 3."),
        (
            {"read": {"bin": 3}},
            TypeError,
            "ReadOptions() got an unexpected keyword argument 'bin'. Did you mean 'bins'?",
        ),
        (
            {"budget": {"time": 3}},
            TypeError,
            "Budget() got an unexpected keyword argument 'time'. Did you mean 'max_time'?",
        ),
        (
            {"read": {"bins": 1}},
            CoevoError,
            "'bins' of learn must be an int >= 2 or None; got 1.",
        ),
    ],
)
def test_wrong_values_are_refused(given, kind, sentence):
    with pytest.raises(kind) as caught:
        coevo.learn("no such file.csv", **given)
    assert str(caught.value) == sentence


def test_values_are_validated_where_they_are_made():
    for make, sentence in (
        (lambda: coevo.ReadOptions(bins=1), "'bins' of ReadOptions must be an int >= 2 or None"),
        (lambda: coevo.ReadOptions(delimiter="--"), "'delimiter' of ReadOptions must be one"),
        (lambda: coevo.Objective(max_table=0), "'max_table' of Objective must be an int >= 1"),
    ):
        with pytest.raises(CoevoError) as caught:
            make()
        assert str(caught.value).startswith(sentence)


def test_a_value_is_one():
    one, two = coevo.ReadOptions(bins=3), coevo.ReadOptions(bins=3)
    assert one == two != coevo.ReadOptions(bins=4)
    assert hash(one) == hash(two)
    assert one != coevo.Objective()
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(coevo.Objective("bic", max_table=None)) == "Objective(score='bic', max_table=None)"
    assert coevo.Objective("bic").replace(ess=2).as_dict()["score"] == "bic"


def test_out_of_core_is_a_way_to_read(tmp_path):
    with pytest.raises(CoevoError) as caught:
        coevo.cross_validate(ROWS, read={"shards": tmp_path})
    assert str(caught.value) == "'shards' of cross_validate cannot be used. Leave it out."
