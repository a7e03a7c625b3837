"""``coevo test`` prints the numbers of `measure_dependence`, in words."""

import pytest

import coevo
from coevo.data import write_data
from coevo.network import sample


@pytest.fixture
def asia(folder):
    write_data(sample(coevo.load_network("asia"), 2000, 1), "asia.csv")


def test_the_answer_as_text(asia, run):
    done = run("test", "asia.csv", "bronc", "smoke")
    assert done.out.splitlines() == [
        "bronc and smoke are dependent: p < 0.0001.",
        "test        G2 146.8568, 1 degree of freedom, p 8.434e-34",
        "effect      0.03671 nats of information; independent variables show 0.00025 in so many "
        "rows",
        "            Cramér's V 0.269; 0.268 without its bias",
        "rows        2,000",
    ]


def test_the_answer_as_json(asia, as_json):
    given = ["--given", "smoke", "--given", "tub,xray", "--test", "x2", "--alpha", "0.2"]
    answer = as_json("test", "asia.csv", "bronc", "lung", *given)
    found = coevo.measure_dependence(
        "asia.csv", "bronc", "lung", ["smoke", "tub", "xray"], test="x2", alpha=0.2
    )
    assert answer == found.as_dict()
    assert answer["given"] == ["smoke", "tub", "xray"]


def test_missing_values_cut_points_and_few_rows(folder, run):
    rows = [
        f"{'yes' if i % 2 else 'no'},{i % 7 + 0.5 * (i % 2)},{'ab'[i // 3 % 2]}" for i in range(30)
    ]
    (folder / "t.csv").write_text("\n".join(["x,y,z", *rows, "n,,a", ",3.5,b"]))
    done = run("test", "t.csv", "x", "y", "--given", "z", "--bins", "5")
    lines = done.out.splitlines()
    assert lines[3] == "rows        30, 2 strata; 2 left out, because a value is missing"
    assert lines[4] == "            fewer than 5 rows for each degree of freedom: p is only rough"
    assert lines[5].startswith("cut points  y: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bronc", "bronc"], "'bronc' is named twice. The variables of a test must differ."),
        (["bronc", "lungs"], "The table has no variable 'lungs'. Did you mean 'lung'?"),
        (["bronc", "lung", "--given", "smoke,tubb"],
         "The table has no variable 'tubb'. Did you mean 'tub'?"),
        (["bronc", "lung", "--alpha", "2"],
         "'alpha' of test must be a number between 0 and 1; got 2.0."),
        (["bronc", "lung", "--test", "fisher"],
         "'test' of test must be one of 'g2', 'x2'; got 'fisher'."),
    ],
)  # fmt: skip
def test_errors(arguments, message, asia, run):
    assert run("test", "asia.csv", *arguments) == (2, "", f"Error: {message}\n")


def test_learn_starts_from_the_result_of_a_method(asia, run, as_json):
    arguments = ("learn", "asia.csv", "-m", "hill_climb", "--start", "pc", "--bootstraps", "0")
    line = run(*arguments).out.splitlines()[1]
    assert line.startswith("method      hill_climb from the result of pc, seed 0: ")
    assert as_json(*arguments)["start_method"] == "pc"
