"""The registry of formats: file extensions, complete files, `open_model` and its relatives."""

import gzip
import os

import pytest

import coevo
from coevo.bundled import load_network, open_model, open_network, open_structure
from coevo.cli import convert
from coevo.errors import FileError, FormatError, ParameterError
from coevo.graph import DAG
from coevo.io import (
    FORMATS,
    format_model,
    parse_model,
    read_model,
    read_network,
    write_model,
    write_network,
)
from helpers.errors import refusal

ASIA = load_network("asia")
FILE_NAMES = [
    *("a.bif", "a.xmlbif", "a.bifxml", "a.xml", "a.net", "a.json", "a.dot", "a.gv", "a.graphml"),
    *("a.adjacency.csv", "a.edges.csv", "a.txt"),
]
CHOICES = "'adjacency', 'bif', 'dot', 'edges', 'graphml', 'json', 'modelstring', 'net', 'xmlbif'"


@pytest.mark.parametrize("file_name", FILE_NAMES)
@pytest.mark.parametrize("template", ["{}", "{}.gz", "UPPER.{}"])
def test_write_and_read_back(tmp_path, file_name, template):
    name = template.format(file_name)
    path = tmp_path / (name.upper() if "UPPER" in name else name)
    write_model(ASIA, path)
    found = read_model(str(path))
    assert found == ASIA if isinstance(found, coevo.BayesianNetwork) else found == ASIA.dag
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert os.listdir(tmp_path) == [path.name]
    assert open_structure(path) == ASIA.dag
    assert open_model(path) == found


def test_every_format_has_its_own_extension():
    extensions = [name for known in FORMATS.values() for name in known.extensions]
    assert len(set(extensions)) == len(extensions)
    assert {known.name for known in FORMATS.values()} == set(FORMATS)
    for name in FILE_NAMES:
        assert name[1:] in extensions


def test_the_command_lists_all_formats():
    text = convert.command.help
    for known in FORMATS.values():
        assert f"{known.name} ({', '.join(known.extensions)})" in text


def test_the_header_decides_about_csv(tmp_path):
    odd = DAG(["to", "from"], [("from", "to")])
    for dag in (ASIA.dag, odd):
        for name in ("edges", "adjacency"):
            write_model(dag, tmp_path / "a.csv", name)
            assert read_model(tmp_path / "a.csv") == dag
    (tmp_path / "r.csv").write_text('"","from","to"\n"1","a","b"\n')
    assert read_model(tmp_path / "r.csv").arcs == (("a", "b"),)


def test_the_outermost_element_decides_about_xml(tmp_path):
    for name, expected in (("xmlbif", ASIA), ("graphml", ASIA.dag)):
        write_model(ASIA, tmp_path / "a.xml", name)
        assert read_model(tmp_path / "a.xml") == expected
    (tmp_path / "a.xml").write_text("<html/>")
    assert refusal(FormatError, read_model, tmp_path / "a.xml") == (
        f"{tmp_path}/a.xml, line 1, column 1: the outermost element must be 'BIF', not 'html'."
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "utf-16"])
def test_encodings_of_xml(tmp_path, encoding):
    dag = DAG(["é"])
    text = format_model(dag, "graphml")
    label = encoding.removesuffix("-sig")
    (tmp_path / "a.graphml").write_text(text.replace("UTF-8", label), encoding=encoding)
    assert read_model(tmp_path / "a.graphml") == dag


def test_unknown_encodings_and_bad_bytes(tmp_path):
    path = tmp_path / "a.graphml"
    path.write_text(format_model(DAG(["a"]), "graphml").replace("UTF-8", "klingon"))
    assert refusal(FormatError, read_model, path) == (
        f"{path}, line 1: there is no encoding 'klingon'. Save the file as UTF-8."
    )
    path.write_bytes(b"<graphml>\xff</graphml>")
    assert refusal(FormatError, read_model, path) == (
        f"{path}, line 1: the byte 0xff is not UTF-8. Save the file as UTF-8."
    )


def test_a_format_name_overrides_the_extension(tmp_path):
    write_model(ASIA, tmp_path / "a.dot", "modelstring")
    assert read_model(tmp_path / "a.dot", "modelstring") == ASIA.dag
    assert open_structure(tmp_path / "a.dot", "modelstring") == ASIA.dag
    assert refusal(FormatError, read_model, tmp_path / "a.dot") == (
        f"{tmp_path}/a.dot, line 1, column 1: expected 'digraph', found '['."
    )


def test_unknown_extensions(tmp_path):
    (tmp_path / "a.dat").write_text("")
    sentence = (
        "The extension of {!r} names no format. Use one of .bif, .xmlbif, .net, .json, .dot, "
        ".graphml, .adjacency.csv, .edges.csv, .txt, or name the format: one of bif, xmlbif, net, "
        "json, dot, graphml, adjacency, edges, modelstring."
    )
    path = str(tmp_path / "a.dat")
    assert refusal(ParameterError, read_model, path) == sentence.format(path)
    written = sentence.replace(".txt,", ".txt, .svg, .png, .pdf,").replace(
        "modelstring.", "modelstring, svg, png, pdf."
    )
    assert refusal(ParameterError, write_model, ASIA, "b.dat") == written.format("b.dat")
    assert refusal(ParameterError, write_model, ASIA, "b.csv") == (
        "'b.csv' could be an adjacency matrix or a list of arcs. Use the extension "
        ".adjacency.csv or .edges.csv, or name the format: adjacency or edges."
    )


def test_unknown_format_names(tmp_path):
    (tmp_path / "a.dot").write_text("")
    for call, owner in (
        (lambda: read_model(tmp_path / "a.dot", "dto"), "read_model"),
        (lambda: write_model(ASIA, "x", "dto"), "write_model"),
        (lambda: parse_model("", "dto"), "parse_model"),
        (lambda: format_model(ASIA, "dto"), "format_model"),
    ):
        choices = CHOICES.replace("'xml", "'pdf', 'png', 'svg', 'xml")
        assert refusal(ParameterError, call) == (
            f"'format_name' of {owner} must be one of "
            f"{choices if owner == 'write_model' else CHOICES}; got 'dto'. Did you mean 'dot'?"
        )


def test_pictures_are_written_but_not_read(tmp_path):
    for model in (ASIA, ASIA.dag):
        for name, known in (("a.svg", None), ("B.PNG", None), ("c", "pdf")):
            path = tmp_path / name
            write_model(model, path, known)
            kind = known or name[-3:].lower()
            assert path.read_bytes() == model.plot().to_bytes(kind)
    path = str(tmp_path / "a.svg")
    for call in (read_model, open_network, open_structure):
        assert refusal(ParameterError, call, path) == (
            f"{path!r} is a picture. coevo writes pictures, but it cannot read them. Use the file "
            "that the picture was made from, such as a .bif file."
        )
    for call, owner in (
        (lambda: read_model(path, "svg"), "read_model"),
        (lambda: parse_model("", "svg"), "parse_model"),
        (lambda: format_model(ASIA, "svg"), "format_model"),
    ):
        assert refusal(ParameterError, call) == (
            f"'format_name' of {owner} cannot be 'svg'. coevo writes pictures, but it cannot read "
            f"them. Use one of {CHOICES}."
        )


def test_open_network_refuses_a_structure(tmp_path):
    write_model(ASIA, tmp_path / "a.dot")
    assert refusal(FormatError, open_network, tmp_path / "a.dot") == (
        f"'{tmp_path}/a.dot' holds a structure without tables, but a network is needed. Name a "
        "file with tables, such as BIF, or fit tables to the structure first."
    )


def test_bundled_networks_by_name():
    assert open_model("asia") == open_network("asia") == ASIA
    assert open_structure("asia") == ASIA.dag


def test_missing_files(tmp_path):
    write_model(ASIA, tmp_path / "asia.dot")
    path = tmp_path / "asai.dot"
    assert refusal(FileError, open_structure, path) == (
        f"There is no file '{path}'. Did you mean 'asia.dot'?"
    )
    assert refusal(FileError, open_structure, "asai") == (
        "There is no file and no bundled network 'asai'. Did you mean 'asia'?"
    )
    assert refusal(FileError, read_model, tmp_path) == (
        f"'{tmp_path}' is a folder. Name a file in it."
    )


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(FormatError):
        write_model(DAG(["\ud800"]), tmp_path / "a.json")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_model(ASIA, tmp_path / "a.json")
    assert os.listdir(tmp_path) == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "old"


@pytest.mark.parametrize("name", ["alarm", "hailfinder", "munin"])
def test_bundled_networks_in_every_format(name):
    network = load_network(name)
    for known in FORMATS.values():
        found = parse_model(format_model(network, known.name), known.name)
        assert found == network if known.has_tables else found == network.dag


def test_compressed_files_are_always_the_same_bytes(tmp_path):
    write_model(ASIA, tmp_path / "a.net.gz")
    data = (tmp_path / "a.net.gz").read_bytes()
    assert data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"  # no name, no date
    assert gzip.decompress(data).decode() == format_model(ASIA, "net")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_networks_are_written_where_nothing_is_lost(tmp_path, name):
    path = tmp_path / f"a{FORMATS[name].extensions[0]}"
    if FORMATS[name].has_tables:
        write_network(ASIA, path)
        assert read_network(path) == ASIA
        write_network(ASIA, tmp_path / "b", name)
        assert read_network(tmp_path / "b", name) == ASIA
        return
    for arguments in ((path,), (tmp_path / "b", name)):
        assert refusal(FormatError, write_network, ASIA, *arguments) == (
            f"{FORMATS[name].label} cannot hold the tables of a network. Write one of bif, xmlbif, "
            "net, json, or write the structure alone with write_model."
        )
    write_model(ASIA, path)
    assert refusal(FormatError, read_network, path) == (
        f"{str(path)!r} holds a structure without tables, but a network is needed. Name a file "
        "with tables, such as BIF, or fit tables to the structure first."
    )
    assert os.listdir(tmp_path) == [path.name]


def test_a_network_is_no_picture_and_no_structure(tmp_path):
    assert refusal(FormatError, write_network, ASIA, tmp_path / "a.svg") == (
        "SVG cannot hold the tables of a network. Write one of bif, xmlbif, net, json, or write "
        "the structure alone with write_model."
    )
    assert refusal(ParameterError, write_network, ASIA.dag, tmp_path / "a.bif") == (
        "'network' of write_network must be a BayesianNetwork; got <DAG: 8 variables, 8 arcs>."
    )
    assert os.listdir(tmp_path) == []
