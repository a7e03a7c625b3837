"""What is fuzzed: for each kind of input, valid files and a function that reads one.

A target returns normally, or raises an error of coevo. Anything else is a fault.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import coevo
from coevo.bundled import load_network
from coevo.cli.report import _make_page, _refuse_damaged_facts
from coevo.data import read_types
from coevo.experiments import Bench, Paper, run_bench, run_paper
from coevo.experiments.bench.runs import make_bench_journal
from coevo.experiments.paper.plan import make_paper_journal
from coevo.io import FORMATS, format_model, read_knowledge
from coevo.posteriors import open_journal
from coevo.problems.instance_files import read_lolib, read_tsplib
from coevo.search import make_spec
from coevo.view.page.document import render_page
from fuzz.program_targets import COMMANDS, FRAMES, read_frame, run_command_line, write_rows
from fuzz.result_targets import make_result_targets
from fuzz.state_targets import make_state_targets
from fuzz.studio_targets import make_studio_targets
from fuzz.table_targets import make_table_targets
from fuzz.target import Target

PAPER = Paper(networks=("asia",), rows=(50,), runs=2, generations=2, population=4)
BENCH = Bench(networks=("asia",), rows=(50,), seeds=1, methods=("k2",), peers=(), max_time=5.0)
NAMES = load_network("asia").dag.nodes
TYPES = '{"asia": "categorical", "lung": {"type": "categorical"}, "xray": "ignore"}'
KNOWLEDGE = {
    "required": [["smoke", "lung"]],
    "forbidden": [{"from": "asia", "to": "xray"}],
    "tiers": [["asia", "smoke"], ["group"]],
    "groups": {"group": ["lung", "bronc"]},
    "weights": [["smoke", "bronc", 1.5]],
    "roots": ["asia"],
    "max_parents": 3,
}
CSV_KNOWLEDGE = "kind,from,to,weight\nrequired,smoke,lung\nweight,smoke,bronc,1.5\nroot,asia\n"
TSP = "NAME: a\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n" + (
    "1 0 0\n2 3 4\n3 1 1\nEOF\n"
)


def make_targets(folder: Path) -> list[Target]:
    """Return all targets; they write their files into a folder."""
    return [
        *_make_model_targets(),
        *_make_table_targets(folder),
        *_make_small_targets(folder),
        *_make_run_targets(folder / "run"),
        *_make_journal_targets(folder),
        *_make_program_targets(folder / "commands"),
        *make_state_targets(folder / "states"),
        *make_result_targets(folder / "results"),
        *make_table_targets(folder / "tables", _read),
        *make_studio_targets(folder / "studio"),
    ]


def _make_model_targets():
    for name, known in FORMATS.items():
        models = [load_network("asia"), load_network("cancer")]
        seeds = [format_model(model, name).encode() for model in models]

        def read(data, known=known):
            return known.parse(known.decode(data, "fuzz"), "fuzz")

        yield Target(name, seeds, read)


def _make_table_targets(folder):
    rows = coevo.sample(load_network("asia"), 60, random_state=1)
    coevo.write_data(rows, folder / "asia.csv")
    text = (folder / "asia.csv").read_bytes()
    header, *lines = text.decode().splitlines()
    records = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    numbers = b"age;weight;day\n" + b"".join(
        b"%d;%d,5;2021-03-%02d\n" % (20 + i % 7, i % 5, 1 + i % 28) for i in range(60)
    )
    arff = "@relation a\n" + "".join(f"@attribute {n} {{yes,no}}\n" for n in header.split(","))
    seeds = {
        "csv": [text, numbers, text.replace(b",", b"\t")],
        "json": [json.dumps(records).encode(), "\n".join(map(json.dumps, records)).encode()],
        "arff": [(arff + "@data\n" + "\n".join(lines)).encode()],
        "csv.gz": [gzip.compress(text, mtime=0)],
    }
    for kind, files in seeds.items():
        path = folder / f"fuzz.{kind}"
        yield Target(f"table-{kind}", files, lambda data, path=path: _read_table(path, data))


def _read_table(path, data):
    path.write_bytes(data)
    return _read(path)


def _read(path, **options):
    return coevo.data.read_incomplete(path, discretise="quantile", bins=2, **options)


def _make_small_targets(folder):
    def read_file(name, read):
        def call(data):
            (folder / name).write_bytes(data)
            return read(folder / name)

        return call

    knowledge = [json.dumps(KNOWLEDGE).encode()]
    types = [b"column,type,cuts\nasia,categorical\nlung,ignore\n", TYPES.encode()]
    table = folder / "asia.csv"
    yield Target(
        "knowledge.json", knowledge, read_file("k.json", lambda p: read_knowledge(p, NAMES))
    )
    yield Target(
        "knowledge.csv", [CSV_KNOWLEDGE.encode()], read_file("k.csv", lambda p: read_knowledge(p))
    )
    yield Target("types", types, read_file("types", lambda p: _read(table, types=read_types(p))))
    yield Target("tsplib", [TSP.encode()], read_file("a.tsp", read_tsplib))
    yield Target("lolib", [b"a\n3\n0 1 2\n3 0 4\n5 6 0\n"], read_file("a.lop", read_lolib))


def _make_run_targets(folder):
    coevo.learn(
        coevo.sample(load_network("asia"), 200, random_state=1),
        method="hill_climb",
        output=folder,
        bootstraps=2,
        progress=False,
    )
    for name in ("run.json", "history.jsonl", "model.bif"):
        path = folder / name
        content = path.read_bytes()

        def read(data, path=path, content=content):
            path.write_bytes(data)
            try:
                page = _make_page(str(folder))
                with _refuse_damaged_facts(str(folder)):
                    return render_page(page)
            finally:
                path.write_bytes(content)

        yield Target(name, [content], read)


def _make_journal_targets(folder):
    """Yield the files of the journals of paper, bench and strength."""
    table = coevo.sample(load_network("asia"), 60, random_state=1)
    spec = make_spec("fuzz", method="hill_climb", random_state=1)
    run_paper(PAPER, folder / "paper", figures=False)
    run_bench(BENCH, folder / "bench", figures=False)
    coevo.bootstrap_strength(
        table, bootstraps=2, method="hill_climb", random_state=1, folder=folder / "strength"
    )
    yield from _list_journal("", folder / "paper", lambda path: make_paper_journal(path, PAPER))
    yield from _list_journal(
        "bench-", folder / "bench", lambda path: make_bench_journal(path, BENCH, "coevo bench")
    )
    yield from _list_journal(
        "strength-", folder / "strength", lambda path: open_journal(path, table, spec)
    )


def _list_journal(prefix, folder, make_journal):
    names = ("experiment.json", "runs.jsonl", "times.jsonl")
    files = {name: (folder / name).read_bytes() for name in names}

    def read_all(name, data):
        for other, content in files.items():
            (folder / other).write_bytes(content)
        (folder / name).write_bytes(data)
        journal = make_journal(folder)
        journal.open()
        return journal

    for name, content in files.items():
        yield Target(prefix + name, [content], lambda data, name=name: read_all(name, data))


def _make_program_targets(folder):
    folder.mkdir()
    write_rows(folder)
    frames = [json.dumps(frame).encode() for frame in FRAMES]
    yield Target("frame", frames, read_frame)
    lines = [line.encode() for line in COMMANDS]
    yield Target("command", lines, lambda data: run_command_line(folder, data))
