"""The runner of documents finds the blocks, runs them and sees a wrong output."""

import pytest
from sybil.example import SybilFailure

from helpers.documents import Command, read_blocks, read_commands, run_document

QUERY = "coevo query earthquake Burglary --given JohnCalls=True,MaryCalls=True"


@pytest.fixture
def run(workspace):
    """Return a function that runs a text as a document."""

    def run_text(text):
        path = workspace / "page.md"
        path.write_text(text, encoding="utf-8")
        return run_document(path)

    return run_text


def block(language, *lines):
    return "\n".join([f"```{language}", *lines, "```", ""])


def test_blocks_are_found_by_their_language(run):
    text = (
        block("python", "a = 1") + block("json", "{") + block("text", "$ coevo") + "~~~\nb\n~~~\n"
    )
    text += block("console", "$ coevo --version", "coevo ...") + block("sh", "pip install coevo")
    assert [found.language for found in run(text)] == ["python", "console", "sh"]


def test_python_blocks_share_a_namespace_and_the_examples(run, workspace):
    run(
        block("python", "from pathlib import Path", "header = Path('examples/patients.csv')")
        + block("python", "Path('copy.csv').write_text(header.read_text())")
        + block("python", ">>> header.name", "'patients.csv'", ">>> 0.25 * 3", "0...")
    )
    assert (workspace / "copy.csv").exists()


def test_commands_share_the_folder_with_python(run):
    run(
        block("console", "$ coevo sample asia --rows 5 --seed 1 \\", "    -o rows.csv")
        + block("python", "from pathlib import Path", "rows = Path('rows.csv').read_text()")
        + block("python", "assert rows.count('\\n') == 6")
        + block("console", "$ ls", "examples", "page.md", "rows.csv")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (block("console", f"$ {QUERY}", "...", "  0.556523  True", "..."), "0.556522  True"),
        (block("console", "$ coevo --no-such-option"), "Expected exit code 0; got 2."),
        (
            block("console", "$ coevo --version", "Error: nothing"),
            "Expected another exit code than 0; got 0.",
        ),
        (block("python", ">>> 1 + 1", "3"), "Expected:\n    3\nGot:\n    2"),
    ],
    ids=["output", "failure", "success", "doctest"],
)
def test_a_wrong_output_fails(run, text, message):
    with pytest.raises(SybilFailure) as failure:
        run("# Title\n\n" + text)
    assert message in str(failure.value)
    assert "page.md" in str(failure.value)


def test_a_wrong_block_fails_at_its_line(run):
    with pytest.raises(ZeroDivisionError) as failure:
        run("# Title\n\n" + block("python", "a = 0", "1 / a"))
    assert (failure.traceback[-1].path.name, failure.traceback[-1].lineno + 1) == ("page.md", 5)


def test_an_error_that_is_shown_is_expected(run):
    run(block("console", "$ coevo query asia smokes", "Error: ...'smokes'..."))


def test_other_commands_are_refused(run):
    with pytest.raises(AssertionError, match="Documents run coevo, cat, head, ls; got 'rm'"):
        run(block("console", "$ rm -r examples"))


@pytest.mark.parametrize(
    "mark",
    ["% skip: needs two machines", "<!-- skip: needs two machines -->"],
    ids=["myst", "html"],
)
def test_a_skipped_block_needs_a_reason(run, workspace, mark):
    text = f"{mark}\n" + block("python", "1 / 0")
    assert run(text) == []
    (found,) = read_blocks(workspace / "page.md")
    assert found.skip_reason == "needs two machines"
    with pytest.raises(AssertionError, match=r"page.md:2: Give a reason: '% skip: reason'\."):
        run(text.replace(" needs two machines", ""))


def test_an_example_of_markdown_does_not_run(run):
    assert run("````markdown\n" + block("python", "1 / 0") + "````\n") == []


def test_blocks_in_lists_and_tabs_run(run):
    text = (
        "- An item:\n\n  ```python\n  a = 1\n  ```\n\n:::{tab-set}\n"
        + block("python", "a")
        + ":::\n"
    )
    assert [found.source for found in run(text)] == ["a = 1\n", "a\n"]


def test_commands_and_their_outputs_are_distinguished():
    source = "$ coevo a \\\n    --b\nfirst\n\nsecond\n\n$ coevo c\n"
    assert read_commands(source, first_line=3) == [
        Command("coevo a --b", 3, "first\n\nsecond"),
        Command("coevo c", 9, ""),
    ]
