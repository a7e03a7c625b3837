"""The BIF writer: fixed bytes, and a network that reads back as the same network."""

import gzip
import os

import numpy as np
import pytest

from coevo.data.variable import Variable
from coevo.errors import FileError
from coevo.io import format_bif, parse_bif, read_bif, write_bif
from coevo.io.bif_reader import BifDocument, quote_name
from coevo.io.bif_writer import format_bif_document
from coevo.network import BayesianNetwork


def weather(name="weather"):
    return BayesianNetwork(
        [
            Variable("wet", ("<5", ">=12", "10-20")),
            Variable("rain", ("no", "yes")),
            Variable("alone", ("0", "01", "5%")),
        ],
        {"wet": ["rain", "alone"]},
        {
            "rain": [0.8, 0.2],
            "alone": [0.1, 0.2, 0.7],
            "wet": [*np.eye(3), [0.1, 0.2, 0.7], [1e-5, 0.0, 0.99999], [1 / 3, 1 / 3, 1 / 3]],
        },
        name,
    )


WRITTEN = """\
network weather {
}
variable wet {
  type discrete [ 3 ] { <5, >=12, 10-20 };
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable alone {
  type discrete [ 3 ] { 0, 01, 5% };
}
probability ( wet | rain, alone ) {
  (no, 0) 1.0, 0.0, 0.0;
  (no, 01) 0.0, 1.0, 0.0;
  (no, 5%) 0.0, 0.0, 1.0;
  (yes, 0) 0.1, 0.2, 0.7;
  (yes, 01) 1e-05, 0.0, 0.99999;
  (yes, 5%) 0.3333333333333333, 0.3333333333333333, 0.3333333333333333;
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( alone ) {
  table 0.1, 0.2, 0.7;
}
"""


PORTABLE = {  # what differs from the layout of 0.2.0
    "  type discrete [ 3 ] { <5, >=12, 10-20 };\n": (
        "  type discrete [ 3 ] { lt_5, ge_12, X10-20 };\n"
        r'  property coevo_labels = ["<5", ">\u003d12", "10-20"];'
        "\n"
    ),
    "  type discrete [ 3 ] { 0, 01, 5% };\n": (
        "  type discrete [ 3 ] { 0, 01, X5_pct };\n"
        r'  property coevo_labels = ["0", "01", "5\u0025"];'
        "\n"
    ),
    ", 5%)": ", X5_pct)",
}


def write_portably(text):
    for old, new in PORTABLE.items():
        text = text.replace(old, new)
    return text


def test_layout():
    assert format_bif(weather()) == write_portably(WRITTEN)
    assert format_bif_document(BifDocument.from_network(weather())) == WRITTEN


def test_layouts_of_this_version_and_of_0_2_0():
    assert parse_bif(WRITTEN) == weather()
    assert parse_bif(write_portably(WRITTEN)) == weather()
    assert format_bif(parse_bif(WRITTEN)) == write_portably(WRITTEN)


CHANGED = [  # by another tool, which kept our properties
    ('"<5", ', ""),
    ('["<5"', '[" <5'),
    ('["<5", ', "[7, "),
    ('"<5"', '"10-20"'),
]


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_originals_that_do_not_fit_are_ignored(old, new):
    found = parse_bif(format_bif(weather()).replace(old, new))
    assert found.variable("wet").states == ("lt_5", "ge_12", "X10-20")
    assert found.variable("alone").states == ("0", "01", "5%")


def test_two_equal_originals_are_ignored():
    network = BayesianNetwork(
        [Variable("a b", ("x", "y")), Variable("b", ("x", "y"))],
        {},
        {"a b": [0.5, 0.5], "b": [0.1, 0.9]},
    )
    found = parse_bif(format_bif(network).replace('"a b"', '"b"'))
    assert found.dag.nodes == ("a_b", "b")


@pytest.mark.parametrize("name", ["", "alarm", "unknown", "two words", '"', "é", "{", "a//b"])
def test_the_name_is_kept(name):
    assert parse_bif(format_bif(weather(name))).name == name


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("HR", "HR"),
        ("0_5", "0_5"),
        (">=7.5", ">=7.5"),
        ("12+", "12+"),
        ("Asy/Patchy", "Asy/Patchy"),
        ("-1", "-1"),
        ("a//b", '"a//b"'),
        ("a b", '"a b"'),
        ("a,b", '"a,b"'),
        ("{x}", '"{x}"'),
        ("#1", '"#1"'),
        ("", '""'),
        (" ", '" "'),
        ("é", '"é"'),
        ('say "hi"', r'"say \"hi\""'),
        ("C:\\new", r'"C:\\new"'),
        ("a\nb\r\t", r'"a\nb\r\t"'),
        ("\0\x85\u2028\ud800", r'"\u0000\u0085\u2028\ud800"'),
        ("\U0001f600", '"\U0001f600"'),
    ],
)
def test_quoting(name, written):
    assert quote_name(name) == written
    network = BayesianNetwork([Variable(name, (name, name + "'"))], {}, {name: [0.25, 0.75]})
    document = BifDocument.from_network(network)
    assert parse_bif(format_bif_document(document)) == network


def test_the_empty_network():
    empty = BayesianNetwork([], {}, {})
    assert format_bif(empty) == "network unknown {\n}\n"
    assert parse_bif(format_bif(empty)) == empty


def test_numbers_survive_to_the_last_bit():
    rng = np.random.default_rng(20240229)
    names = [str(i) for i in range(7)]
    for scale in (0.01, 1.0, 100.0):
        tables = rng.dirichlet([scale] * 7, size=200)
        root = Variable("root", tuple(str(i) for i in range(200)))
        network = BayesianNetwork(
            [root, Variable("leaf", tuple(names))],
            {"leaf": ["root"]},
            {"root": rng.dirichlet([1.0] * 200), "leaf": tables},
        )
        assert parse_bif(format_bif(network)) == network


def test_a_network_built_from_its_own_tables_is_the_same():
    """A second normalisation changes no bit."""
    rng = np.random.default_rng(7)
    for n_states in (2, 3, 10, 1000):
        variable = Variable("x", tuple(map(str, range(n_states))))
        rough = rng.dirichlet([0.5] * n_states) * (1 + 9e-7)
        once = BayesianNetwork([variable], {}, {"x": rough})
        twice = BayesianNetwork([variable], {}, {"x": once.table("x")})
        assert once == twice
        assert abs(once.table("x").sum() - 1) < 1e-14
        assert not np.array_equal(once.table("x")[0], rough)


def test_published_numbers_do_not_change():
    published = [0.1, 0.2, 0.7]
    network = BayesianNetwork([Variable("x", ("a", "b", "c"))], {}, {"x": published})
    assert network.table("x").tolist() == [published]


def test_a_document_keeps_the_network():
    assert BifDocument.from_network(weather()).to_network() == weather()
    assert BifDocument.from_network(weather()).to_network().name == "weather"


class TestFiles:
    def test_plain(self, tmp_path):
        write_bif(weather(), tmp_path / "a.bif")
        assert (tmp_path / "a.bif").read_bytes() == write_portably(WRITTEN).encode()
        assert os.listdir(tmp_path) == ["a.bif"]

    def test_compressed_and_always_the_same_bytes(self, tmp_path):
        write_bif(weather(), str(tmp_path / "a.bif.gz"))
        write_bif(weather(), tmp_path / "another.bif.gz")
        data = (tmp_path / "a.bif.gz").read_bytes()
        assert data == (tmp_path / "another.bif.gz").read_bytes()
        assert data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"  # no name, no date
        assert gzip.decompress(data).decode() == write_portably(WRITTEN)
        assert read_bif(tmp_path / "a.bif.gz") == weather()

    def test_an_older_file_is_replaced(self, tmp_path):
        (tmp_path / "a.bif").write_text("old")
        write_bif(weather(), tmp_path / "a.bif")
        assert read_bif(tmp_path / "a.bif") == weather()

    def test_a_failed_write_leaves_the_older_file(self, tmp_path, monkeypatch):
        def fail(*_):
            raise OSError("disk full")

        (tmp_path / "a.bif").write_text("old")
        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            write_bif(weather(), tmp_path / "a.bif")
        assert os.listdir(tmp_path) == ["a.bif"]
        assert (tmp_path / "a.bif").read_text() == "old"

    def test_missing_folder(self, tmp_path):
        with pytest.raises(FileError) as caught:
            write_bif(weather(), tmp_path / "no" / "a.bif")
        assert str(caught.value) == (
            f"'{tmp_path}/no/a.bif' cannot be written: there is no folder '{tmp_path}/no'."
        )
