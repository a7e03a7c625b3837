"""The files of examples/ fit together, and the notebook has the cells of its page."""

import json
from pathlib import Path

import coevo
from helpers.documents import read_blocks

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"


def test_types_and_prior_knowledge_hold(workspace):
    result = coevo.learn(
        "examples/patients.csv",
        constraints="examples/known.csv",
        method="hill_climb",
        read={"types": "examples/types.json"},
    )
    dag = result.dag
    assert dag.parents("age") == dag.parents("sex") == dag.children("ill") == ()
    assert ("smoker", "crp") in dag.arcs
    assert "patient_id" not in dag.nodes
    ages = result.network.variable("age").states
    assert coevo.data.CutPoints.from_states(ages) == coevo.data.CutPoints((40, 65))


def test_the_incomplete_table_is_the_complete_one_with_missing_values(workspace):
    complete, incomplete = (
        [line.split(",") for line in Path("examples", name).read_text().splitlines()]
        for name in ("patients.csv", "incomplete.csv")
    )
    pairs = [
        (a, b)
        for left, right in zip(complete, incomplete, strict=True)
        for a, b in zip(left, right, strict=True)
    ]
    different = [b for a, b in pairs if a != b]
    assert len(different) == 426
    assert set(different) <= {"", "?", "NA"}


def test_the_notebook_has_the_cells_of_its_page():
    notebook = json.loads((TUTORIALS / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    blocks = [
        block for block in read_blocks(TUTORIALS / "notebook.md") if block.language == "python"
    ]
    assert list(map(list_lines, cells)) == [list_lines(block.source) for block in blocks]


def list_lines(source):
    """Return the lines of code of a block, without prompts, outputs and blank lines."""
    lines = source.splitlines()
    if source.startswith(">>> "):
        lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    return [line for line in lines if line.strip()]
