"""The routes of the Data view: tables come in, are described, and their settings are stored."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import coevo
from coevo.studio.table_settings import TableSettings, parse_undo, read_settings
from coevo.view.inspection import inspect_table

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENTS = (EXAMPLES / "patients.csv").read_bytes()


@pytest.fixture
def workspace(studio):
    """Return the folder of the workspace."""
    return studio.workspace.root


def upload(client, content=PATIENTS, file="patients.csv"):
    """Send a table; return its name."""
    answer = client.post(f"/api/upload/tables?file={file}", content=content)
    assert answer.status_code == 201, answer.text
    return answer.json()["name"]


def change(client, name, types=None, options=None):
    """Store settings; return the answer."""
    body = {"types": types or {}, "options": options or {}}
    return client.put(f"/api/tables/{name}/settings", json=body)


def column_of(record, name):
    """Return one column of a record."""
    return next(column for column in record["columns"] if column["name"] == name)


def test_an_upload_is_shown_as_inspect_shows_it(client, studio):
    name = upload(client)
    record = client.get(f"/api/tables/{name}").json()
    found = inspect_table(EXAMPLES / "patients.csv")
    assert record["n_rows"] == 600
    assert record["data_hash"] == found.data_hash
    assert record["variables"] == ["sex", "age", "smoker", "ward", "crp", "temperature", "ill"]
    assert [one["sentence"] for one in record["decisions"]] == [
        decision.sentence for decision in found.decisions
    ]
    age = column_of(record, "age")
    assert age["info"] == found.by_name["age"].info.as_dict()
    assert age["summary"] == found.by_name["age"].summary.as_dict()
    assert record["preview"]["names"][:3] == ["patient_id", "sex", "age"]
    assert record["preview"]["rows"][0][:3] == ["p000", "m", "47"]
    assert studio.workspace.open_table(name).path.read_bytes() == PATIENTS
    assert client.get("/api/tables").json()["tables"] == [{"name": "patients"}]


def test_cut_points_are_stored_as_the_command_line_reads_them(client, studio):
    name = upload(client)
    record = change(client, name, {"age": {"type": "continuous", "cuts": [40, 65]}}).json()
    assert column_of(record, "age")["info"]["cuts"] == [40.0, 65.0]
    assert column_of(record, "age")["is_changed"]
    table = studio.workspace.open_table(name)
    assert json.loads(table.types_path.read_text()) == {
        "age": {"type": "continuous", "cuts": [40, 65]}
    }
    found = inspect_table(table.path, types=table.types_path)
    assert found.data_hash == record["data_hash"]
    restored = change(client, name).json()
    assert column_of(restored, "age")["info"]["cuts"] == [57.0]
    assert not table.types_path.exists()


def test_rows_of_bins_are_counted_without_storing_anything(client, studio):
    name = upload(client)
    body = {"column": "age", "cuts": [65, 40]}
    found = client.post(f"/api/tables/{name}/bins", json=body).json()
    ages = [int(row.split(",")[2]) for row in PATIENTS.decode().splitlines()[1:]]
    assert found["cuts"] == [40.0, 65.0]
    assert [one["count"] for one in found["bins"]] == [
        sum(age < 40 for age in ages),
        sum(40 <= age < 65 for age in ages),
        sum(age >= 65 for age in ages),
    ]
    assert not studio.workspace.open_table(name).types_path.exists()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            {"column": "sex", "cuts": [1]},
            "Column 'sex' does not hold numbers, so it cannot be cut into bins.",
        ),
        ({"column": "aeg", "cuts": [1]}, "The table has no column 'aeg'. Did you mean 'age'?"),
        ({"column": "age", "cuts": ["x"]}, "Cut points must be numbers; got ['x']."),
        ({"column": "age"}, "'cuts' must be a list of numbers."),
    ],
)
def test_wrong_bins_are_refused_in_one_sentence(client, body, sentence):
    answer = client.post(f"/api/tables/{upload(client)}/bins", json=body)
    assert answer.status_code == 400
    assert answer.json() == {"error": sentence}


def test_a_decision_is_undone_by_its_own_option(client, studio):
    name = upload(client)
    body = {"kind": "identifier", "columns": ["patient_id"]}
    record = client.post(f"/api/tables/{name}/undo", json=body).json()
    assert record["decisions"] == []
    assert "patient_id" in record["variables"]
    table = studio.workspace.open_table(name)
    assert read_settings(table).types == {"patient_id": "categorical"}
    again = client.post(f"/api/tables/{name}/undo", json=body)
    assert again.json() == {
        "error": "There is no such decision about the table any more. Load the page again."
    }


def test_an_undo_asks_for_the_names_that_it_needs(client):
    rows = "a,a,b\n" + "x,y,1\nx,y,2\ny,y,1\ny,y,2\nx,z,1\nx,z,2\ny,z,1\n" * 9
    name = upload(client, rows.encode(), "twice.csv")
    record = client.get(f"/api/tables/{name}").json()
    decision = next(one for one in record["decisions"] if one["kind"] == "names")
    (old,) = decision["needs_names"]
    body = {"kind": "names", "columns": decision["columns"]}
    refused = client.post(f"/api/tables/{name}/undo", json=body)
    assert refused.json() == {"error": f"Give a new name for the column {old!r}."}
    record = client.post(f"/api/tables/{name}/undo", json={**body, "names": {old: "second"}}).json()
    assert record["variables"] == ["a", "second", "b"]


def test_every_undo_that_a_table_shows_can_be_applied(client):
    """A dirty table: each decision is undone in turn, and none is left that can be undone."""
    lines = ["# a comment", "id;visit;note;price;empty;always"]
    lines += [f"{i};{1 + i % 28}/0{1 + i % 9}/2020;n{i};1.234,{i % 10};;x" for i in range(60)]
    name = upload(client, "\n".join(lines).encode(), "dirty.csv")
    seen = set()
    for _ in range(12):
        record = client.get(f"/api/tables/{name}").json()
        left = [one for one in record["decisions"] if one["can_undo"] and one["undo"] not in seen]
        if not left:
            break
        seen.add(left[0]["undo"])
        body = {"kind": left[0]["kind"], "columns": left[0]["columns"], "names": {}}
        client.post(f"/api/tables/{name}/undo", json=body)
    assert {undo.partition("=")[0] for undo in seen} >= {"comment", "types"}
    assert not left


def test_undo_parses_the_options_of_every_kind_of_decision():
    from coevo.data.decisions import Decision

    def parse(undo, columns=("a",)):
        return parse_undo(Decision("identifier", columns, "", undo))

    assert parse("types={'a': 'ignore'}, or --type a=ignore; other types are date") == {
        "types": {"a": "ignore"}
    }
    many = tuple(f"c{i}" for i in range(9))
    shown = ", ".join(f"{name!r}: 'categorical'" for name in many[:5])
    assert parse(f"types={{{shown}}}; other columns in the same way", many) == {
        "types": dict.fromkeys(many, "categorical")
    }
    assert parse("header=True, or --header") == {"header": True}
    assert parse("comment='', or --comment ''") == {"comment": ""}
    assert parse("sheet='two words', or --sheet 'two words'") == {"sheet": "two words"}
    assert parse("strict=True, or --strict") is None
    assert parse("correct the file") is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"types": {"age": "continous"}}, "The type of column 'age' must be one of"),
        ({"types": {"aeg": "ignore"}}, "aeg"),
        ({"options": {"query": "SELECT 1"}}, "The studio has no option 'query'."),
        ({"options": {"connection": "/etc/passwd"}}, "The studio has no option 'connection'."),
        ({"options": {"missing": "guess"}}, "'missing' of learn must be one of"),
        ({"types": [1]}, "The settings of a table must be two objects, types and options."),
    ],
)
def test_wrong_settings_are_refused_and_not_stored(client, studio, given, sentence):
    name = upload(client)
    answer = client.put(f"/api/tables/{name}/settings", json={"types": {}, "options": {}} | given)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]
    assert read_settings(studio.workspace.open_table(name)) == TableSettings()


def test_other_sources(client, studio):
    example = client.post("/api/tables/open", json={"example": "patients"}).json()["name"]
    assert studio.workspace.open_table(example).path.read_bytes() == PATIENTS
    body = {"network": "asia", "rows": 200}
    sampled = client.post("/api/tables/open", json=body).json()["name"]
    assert client.get(f"/api/tables/{sampled}").json()["n_rows"] == 200
    (studio.workspace.root / "mine.csv").write_bytes(PATIENTS)
    named = client.post("/api/tables/open", json={"path": "mine.csv"}).json()["name"]
    assert client.get(f"/api/tables/{named}").json()["n_rows"] == 600


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../outside.csv", "tables/../../outside.csv", "link.csv"]
)
def test_a_path_outside_of_the_workspace_is_refused(client, studio, path):
    outside = studio.workspace.root.parent / "outside.csv"
    outside.write_bytes(PATIENTS)
    (studio.workspace.root / "link.csv").symlink_to(outside)
    answer = client.post("/api/tables/open", json={"path": path})
    assert answer.json() == {
        "error": "Only files in the workspace folder can be added by their path. Drop the file "
        "into the page, or name it on the command line: coevo studio FILE."
    }
    assert client.get("/api/tables").json()["tables"] == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("../../evil.csv", "evil"),
        ("..", "table"),
        ("/etc/passwd", "passwd"),
        ("a\\b<c>.csv", "a b c"),
    ],
)
def test_the_name_of_an_upload_stays_inside(client, studio, file, name):
    answer = client.post("/api/upload/tables", params={"file": file}, content=PATIENTS)
    assert answer.json() == {"name": name}
    stored = studio.workspace.open_table(name).path
    assert stored.resolve().is_relative_to(studio.workspace.root / "tables")


def test_an_upload_that_is_too_large_leaves_nothing(client, studio):
    studio.rules.max_upload = 1000

    def parts():  # without a content-length, so that it is counted while it is read
        for _ in range(50):
            yield b"x" * 100

    answer = client.post("/api/upload/tables?file=big.csv", content=parts())
    assert answer.status_code == 413
    assert list((studio.workspace.root / "incoming").iterdir()) == []
    assert client.get("/api/tables").json()["tables"] == []


def test_a_removed_table_can_be_put_back(client):
    name = upload(client)
    change(client, name, {"age": {"type": "continuous", "cuts": [40]}})
    token = client.delete(f"/api/tables/{name}").json()["token"]
    assert client.get(f"/api/tables/{name}").status_code == 404
    upload(client)  # the name is taken meanwhile
    back = client.post(f"/api/trash/{token}").json()
    assert back == {"kind": "tables", "name": "patients 2"}
    record = client.get("/api/tables/patients 2").json()
    assert column_of(record, "age")["info"]["cuts"] == [40.0]
    gone = client.post(f"/api/trash/{token}")
    assert gone.json() == {"error": "There is no such thing in the trash any more."}


@pytest.mark.parametrize("token", ["..", "x" * 32, "%2e%2e%2ftables", "0" * 32])
def test_a_strange_token_puts_nothing_back(client, token):
    assert client.post(f"/api/trash/{token}").status_code in (404, 405)


def test_names_of_data_stay_text(client):
    rows = '<img src=x onerror=alert(1)>,"b"\n' + "<b>1</b>,x\n2,y\n" * 30
    record = client.get(f"/api/tables/{upload(client, rows.encode(), 'markup.csv')}")
    assert record.headers["content-type"] == "application/json"
    assert record.json()["variables"][0] == "<img src=x onerror=alert(1)>"


def test_the_example_is_that_of_the_documentation():
    own = Path(coevo.__file__).parent / "studio" / "examples" / "patients.csv"
    assert own.read_bytes() == PATIENTS


NOISE = bytes(range(256)) * 8


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("a.csv", b"", "'a.csv' is empty. It needs a header and rows below it."),
        (
            "b.csv",
            NOISE,
            "'b.csv' holds zero bytes, so it is not a table in text form. Save it as CSV in UTF-8.",
        ),
        (
            "c.xlsx",
            NOISE,
            "'c.xlsx' is not a spreadsheet, or is damaged. Write it again, or save its table as "
            "CSV.",
        ),
        (
            "d.pdf",
            b"%PDF-1.4 " + NOISE,
            "'d.pdf' is a PDF document. Copy its table into a spreadsheet and save it as CSV.",
        ),
        (
            "e.json",
            b"{",
            "Line 1 of 'e.json' is not JSON: Expecting property name enclosed in double quotes. "
            "Correct the line, or write the file again.",
        ),
    ],
)
def test_a_file_that_no_option_helps_to_read_is_refused(client, workspace, file, content, sentence):
    answer = client.post(f"/api/upload/tables?file={file}", content=content)
    assert (answer.status_code, answer.json()) == (400, {"error": sentence})
    (workspace / file).write_bytes(content)
    answer = client.post("/api/tables/open", json={"path": file})
    assert (answer.status_code, answer.json()) == (400, {"error": sentence})
    assert client.get("/api/tables").json()["tables"] == []
    assert list((workspace / "tables").iterdir()) == []


def test_a_table_that_an_option_may_help_to_read_is_kept_with_its_settings(client, workspace):
    name = upload(client, b"a#b\n" + b"x#1\ny#2\n" * 20, "hashes.csv")
    answer = client.get(f"/api/tables/{name}").json()
    assert answer.keys() == {"unreadable", "settings"}
    assert answer["unreadable"].startswith("The table has one column, 'a#b'.")
    assert client.get(f"/api/tables/{name}/settings").json() == {"types": {}, "options": {}}
    assert change(client, name, options={"delimiter": "#"}).json()["n_columns"] == 2


def test_a_table_that_somebody_has_worked_on_is_never_refused(client, studio, workspace):
    (workspace / "b.csv").write_bytes(b"a,b\n" + b"x,1\ny,2\n" * 20)
    name = client.post("/api/tables/open", json={"path": "b.csv"}).json()["name"]
    studio.workspace.open_table(name).write_options({"skiprows": 500})
    assert client.post("/api/tables/open", json={"path": "b.csv"}).json()["name"] == name
    assert "is empty" in client.get(f"/api/tables/{name}").json()["unreadable"]


@pytest.mark.parametrize("file", ["table.json", "types.json", "constraints.json", "Table.JSON"])
def test_a_table_may_have_the_name_of_a_file_of_the_studio(client, file):
    rows = json.dumps([{"a": i % 2, "b": i % 3} for i in range(12)]).encode()
    name = client.post("/api/upload/tables", params={"file": file}, content=rows).json()["name"]
    stored = client.put(f"/api/tables/{name}/settings", json={"types": {"a": "categorical"}})
    known = client.put(f"/api/tables/{name}/knowledge", json={"required": [["a", "b"]]})
    assert (stored.status_code, known.status_code) == (200, 200)
    assert client.get(f"/api/tables/{name}").json()["n_rows"] == 12


@pytest.mark.parametrize(
    ("file", "name"), [("com1 .csv", "table"), ("данные.csv", "table"), ("数据.csv.gz", "table")]
)
def test_a_table_of_any_name_gets_one(client, file, name):
    answer = client.post("/api/upload/tables", params={"file": file}, content=b"a,b\n1,2\n")
    assert answer.json() == {"name": name}


def test_tables_at_the_same_time_get_different_names(studio):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: studio.workspace.make_folder("runs", "a").name, range(16)))
    assert sorted(made) == sorted(["a", *(f"a {i}" for i in range(2, 17))])


def test_a_workspace_that_is_gone_is_a_sentence(client, studio):
    root = studio.workspace.root
    root.rename(root.with_name("moved"))
    sentence = "A file of the workspace cannot be read or written: No such file or directory"
    for address in ("/api/workspace", "/api/tables", "/api/predict", "/api/export"):
        answer = client.get(address)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(sentence)
    answer = client.post("/api/upload/tables", params={"file": "a.csv"}, content=b"a,b\n1,2\n")
    assert (answer.status_code, answer.json()["error"].startswith(sentence)) == (400, True)
