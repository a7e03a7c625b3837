"""``coevo sample`` writes the rows of a seed, and checks its arguments first."""

from __future__ import annotations

import gzip

import pytest

import coevo.bundled
from coevo.bundled import load_network
from coevo.data import read_data
from coevo.io import write_bif
from coevo.network import sample


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".CSV.GZ", ".tsv", ".tsv.gz", ".parquet"])
def test_the_file_holds_the_rows_of_the_seed(suffix, run, folder):
    name = f"rows{suffix}"
    line = f"Wrote 300 rows of 6 variables to {name}.\n"
    assert run("sample", "survey", "--rows", 300, "--seed", 5, "-o", name) == (0, "", line)
    network = load_network("survey")
    found = read_data(name, states=network.variables)
    assert found == sample(network, 300, 5)
    assert found.source_variables == network.variables
    is_packed = (folder / name).read_bytes()[:2] == b"\x1f\x8b"
    assert is_packed == suffix.lower().endswith(".gz")
    assert [path.name for path in folder.iterdir()] == [name]


def test_the_layout_of_csv(run, folder):
    run("sample", "cancer", "--rows", 2, "-o", "rows.csv")
    lines = (folder / "rows.csv").read_text().splitlines()
    assert lines[0] == "Pollution,Smoker,Cancer,Xray,Dyspnoea"
    assert len(lines) == 3
    assert lines[1].split(",")[0] in ("low", "high")


def test_same_seed_same_bytes_in_any_process(launch, tmp_path):
    for i in (0, 1):
        arguments = ["sample", "child", "--rows", 200, "--seed", 3, "-o", f"{i}.csv.gz"]
        line = f"Wrote 200 rows of 20 variables to {i}.csv.gz.\n"
        assert launch(*arguments, PYTHONHASHSEED=str(i)) == (0, "", line)
    first = (tmp_path / "0.csv.gz").read_bytes()
    assert first == (tmp_path / "1.csv.gz").read_bytes()
    assert gzip.decompress(first).count(b"\n") == 201


def test_the_seed_is_0_if_left_out(run, folder):
    run("sample", "asia", "--rows", 50, "-o", "a.csv")
    run("sample", "asia", "--rows", 50, "--seed", 0, "-o", "b.csv")
    run("sample", "asia", "--rows", 50, "--seed", 1, "-o", "c.csv")
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert (folder / "a.csv").read_bytes() != (folder / "c.csv").read_bytes()


def test_a_network_of_the_user(run, folder):
    write_bif(load_network("asia"), "mine.bif")
    run("sample", "mine.bif", "--rows", 50, "-o", "a.csv")
    run("sample", "asia", "--rows", 50, "-o", "b.csv")
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_a_target_is_refused_before_any_work(refused, folder, monkeypatch):
    def work(*arguments):
        raise AssertionError("the network was opened")

    monkeypatch.setattr(coevo.bundled, "open_network", work)
    (folder / "folder.csv").mkdir()
    assert refused("sample", "asia", "--rows", 5, "-o", "x.xlsx") == (
        "The name of a table must end in one of .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .pq; "
        "got 'x.xlsx'."
    )
    assert refused("sample", "asia", "--rows", 5, "-o", "no/x.csv") == (
        "'no/x.csv' cannot be written: there is no folder 'no'."
    )
    assert refused("sample", "asia", "--rows", 5, "-o", "folder.csv") == (
        "'folder.csv' is a folder. Name a file in it."
    )


def test_a_network_is_refused(refused, folder):
    assert refused("sample", "asai", "--rows", 5, "-o", "x.csv") == (
        "There is no file and no bundled network 'asai'. Did you mean 'asia'?"
    )
    assert refused("sample", "asia.bif", "--rows", 5, "-o", "x.csv") == (
        "There is no file 'asia.bif'."
    )
    (folder / "broken.bif").write_text("variable a {\n  type discrete [ 3 ] { x, y };\n}\n")
    assert refused("sample", "broken.bif", "--rows", 5, "-o", "x.csv") == (
        "broken.bif, line 2, column 19: 'a' lists 2 of 3 states."
    )
    assert not (folder / "x.csv").exists()


def test_a_folder_does_not_hide_a_bundled_network(run, refused, folder):
    (folder / "asia").mkdir()
    (folder / "mine").mkdir()
    assert run("sample", "asia", "--rows", 5, "-o", "asia/x.csv").code == 0
    assert refused("sample", "mine", "--rows", 5, "-o", "x.csv") == (
        "'mine' is a folder. Name a file in it."
    )


def test_rows_with_evidence(run, refused, folder):
    network, given = load_network("survey"), {"T": "train", "A": "old"}
    arguments = ["--rows", 200, "--seed", 5, "-o", "rows.csv"]
    assert run("sample", "survey", "--given", "T=train,A=old", *arguments).code == 0
    with pytest.warns(match="is 'old' in every row"):
        found = read_data("rows.csv", states=network.variables)
    assert found == sample(network, 200, 5, given)
    assert refused("sample", "survey", "--given", "T=trian", *arguments) == (
        "'T' has no state 'trian'; its states are 'car', 'train', 'other'. Did you mean 'train'?"
    )
