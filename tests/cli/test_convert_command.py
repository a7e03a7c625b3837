"""``coevo convert`` writes the same network, or its structure, in any format."""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys

from coevo.bundled import load_network
from coevo.io import FORMATS, format_model, read_bif, read_model

ROUNDED = """network r { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( a ) { table 0.499, 0.5; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.25, 0.75; }
"""


def test_there_and_back(run, folder):
    sentence = "Wrote a network (20 variables, 25 arcs) to {}.\n"
    steps = ["child", "a.bif", "b.bif.gz", "C.BIF.GZ", "d.bif"]
    for source, target in itertools.pairwise(steps):
        assert run("convert", source, target) == (0, "", sentence.format(target))
    assert read_bif("b.bif.gz") == load_network("child")
    text = (folder / "a.bif").read_bytes()
    assert (folder / "d.bif").read_bytes() == text
    assert gzip.decompress((folder / "b.bif.gz").read_bytes()) == text
    assert (folder / "C.BIF.GZ").read_bytes() == (folder / "b.bif.gz").read_bytes()


def test_a_file_onto_itself(run, folder):
    run("convert", "asia", "a.bif")
    before = (folder / "a.bif").read_bytes()
    assert run("convert", "a.bif", "a.bif").code == 0
    assert (folder / "a.bif").read_bytes() == before


def test_rounded_rows_are_a_warning(run, folder):
    (folder / "r.bif").write_text(ROUNDED)
    assert run("convert", "r.bif", "s.bif") == (
        0,
        "",
        "Warning: r.bif, line 4, column 21: the table of 'a' sums to 0.999; it was normalised.\n"
        "Wrote a network (2 variables, 1 arc) to s.bif.\n",
    )


def test_refusals(refused, folder):
    (folder / "r.bif").write_text(ROUNDED.replace("0.499", "0.3"))
    sentence = refused("convert", "asia", "x.dat")
    assert sentence.startswith("The extension of 'x.dat' names no format.")
    assert refused("convert", "asia", "x.csv") == (
        "'x.csv' could be an adjacency matrix or a list of arcs. Use the extension "
        ".adjacency.csv or .edges.csv, or name the format: adjacency or edges."
    )
    for option, pictures in (("--from", ""), ("--to", "'pdf', 'png', 'svg', ")):
        assert refused("convert", "asia", "x.bif", option, "dto") == (
            f"'{option}' of convert must be one of 'adjacency', 'bif', 'dot', 'edges', 'graphml', "
            f"'json', 'modelstring', 'net', {pictures}'xmlbif'; got 'dto'. Did you mean 'dot'?"
        )
    assert refused("convert", "asia", "-") == (
        "OUT is '-', which has no extension. Name its format with --to: bif, xmlbif, net, json, "
        "dot, graphml, adjacency, edges, modelstring, svg, png, pdf."
    )
    assert refused("convert", "asai", "x.bif") == (
        "There is no file and no bundled network 'asai'. Did you mean 'asia'?"
    )
    assert refused("convert", "s.bif", "x.bif") == (
        "There is no file 's.bif'. Did you mean 'r.bif'?"
    )
    assert refused("convert", "r.bif", "x.bif") == (
        "r.bif, line 4, column 21: the table of 'a' sums to 0.8; it must sum to 1."
    )
    assert refused("convert", "asia", "no/x.bif") == (
        "'no/x.bif' cannot be written: there is no folder 'no'."
    )
    assert [path.name for path in folder.iterdir()] == ["r.bif"]


def test_any_to_any_that_has_tables(run, folder):
    names = ["a.bif", "a.xmlbif", "a.net", "a.json", "a.xml.gz", "b.bif"]
    for source, target in itertools.pairwise(["child", *names]):
        wrote = f"Wrote a network (20 variables, 25 arcs) to {target}.\n"
        assert run("convert", source, target) == (0, "", wrote)
    assert (folder / "a.bif").read_bytes() == (folder / "b.bif").read_bytes()


def test_leaving_tables_out_is_reported(run, folder):
    wrote = "Wrote a structure (8 variables, 8 arcs) to {}.{}\n"
    note = " This format holds no states and no tables."
    assert run("convert", "asia", "a.dot") == (0, "", wrote.format("a.dot", note))
    names = ["a.graphml", "a.json", "a.txt", "a.adjacency.csv", "a.edges.csv", "b.dot"]
    for source, target in itertools.pairwise(["a.dot", *names]):
        assert run("convert", source, target) == (0, "", wrote.format(target, ""))
        assert read_model(target) == load_network("asia").dag


def test_a_structure_has_no_tables_to_write(run, refused, folder):
    run("convert", "asia", "a.dot")
    assert refused("convert", "a.dot", "a.bif") == (
        "BIF needs states and tables, and a structure has none. Write one of json, dot, graphml, "
        "adjacency, edges, modelstring, or fit tables to it first."
    )
    assert [path.name for path in folder.iterdir()] == ["a.dot"]


def test_formats_by_name_and_the_standard_output(run, folder):
    asia = load_network("asia")
    for known in FORMATS.values():
        code, out, err = run("convert", "asia", "-", "--to", known.name)
        assert (code, out) == (0, format_model(asia, known.name))
        assert "to standard output." in err
        (folder / "file").write_text(out)
        assert run("convert", "file", "again", "--from", known.name, "--to", known.name).code == 0
        assert (folder / "again").read_text() == out


def test_names_that_a_format_cannot_hold(refused, folder):
    (folder / "a.edges.csv").write_text("from,to\na|b,c\n")
    assert refused("convert", "a.edges.csv", "a.txt") == (
        "A model string cannot hold the name or state 'a|b': it has a bracket, a bar or a colon. "
        "Rename it, or write JSON."
    )


def test_pictures(run, folder):
    asia = load_network("asia")
    for name in ("a.svg", "a.png", "a.pdf"):
        wrote = f"Wrote a picture (8 variables, 8 arcs) to {name}.\n"
        assert run("convert", "asia", name) == (0, "", wrote)
        assert (folder / name).read_bytes() == asia.plot().to_bytes(name[-3:])
    assert run("convert", "asia", "b", "--to", "svg").code == 0
    assert (folder / "b").read_text(encoding="utf-8") == asia.plot().svg
    assert run("convert", "asia", "-", "--to", "svg") == (
        0,
        asia.plot().svg,
        "Wrote a picture (8 variables, 8 arcs) to standard output.\n",
    )
    run("convert", "asia", "a.dot")
    assert run("convert", "a.dot", "c.svg").code == 0  # a structure has a picture, too
    assert (folder / "c.svg").read_text(encoding="utf-8") == asia.dag.plot().svg


def test_pictures_on_the_standard_output_are_bytes():
    command = [sys.executable, "-m", "coevo", "convert", "asia", "-", "--to", "png"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == load_network("asia").plot().to_bytes("png")


def test_pictures_cannot_be_read(run, refused, folder):
    run("convert", "asia", "a.svg")
    sentence = (
        "'a.svg' is a picture. coevo writes pictures, but it cannot read them. Use the file that "
        "the picture was made from, such as a .bif file."
    )
    assert refused("convert", "a.svg", "a.bif") == sentence
    assert refused("query", "a.svg") == sentence
    assert refused("convert", "a.svg", "a.bif", "--from", "svg") == (
        "'--from' of convert cannot be 'svg'. coevo writes pictures, but it cannot read them. Use "
        "one of 'adjacency', 'bif', 'dot', 'edges', 'graphml', 'json', 'modelstring', 'net', "
        "'xmlbif'."
    )
    assert refused("convert", "asia", "no/a.png") == (
        "'no/a.png' cannot be written: there is no folder 'no'."
    )
    assert [path.name for path in folder.iterdir()] == ["a.svg"]


def test_a_picture_without_matplotlib(refused, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert refused("convert", "asia", "a.pdf") == (
        "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
    )
    assert list(folder.iterdir()) == []
