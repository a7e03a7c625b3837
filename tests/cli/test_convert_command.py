"""``coevo convert`` writes the same network again."""

from __future__ import annotations

import gzip
import itertools

from coevo.io import read_bif
from coevo.networks import load_network

ROUNDED = """network r { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( a ) { table 0.499, 0.5; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.25, 0.75; }
"""


def test_there_and_back(run, folder):
    sentence = "Wrote a network (20 variables, arcs: 25) to {}.\n"
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
        "Wrote a network (2 variables, arcs: 1) to s.bif.\n",
    )


def test_refusals(refused, folder):
    (folder / "r.bif").write_text(ROUNDED.replace("0.499", "0.3"))
    assert refused("convert", "asia", "x.json") == (
        "'OUT' of convert must end in one of .bif, .bif.gz; got 'x.json'."
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
