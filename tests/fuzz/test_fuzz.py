"""A short form of the fuzzer, with a seed, and all inputs that were once a fault."""

from __future__ import annotations

import warnings

import pytest

from coevo.errors import CoevoWarning
from fuzz.mutate import mutate
from fuzz.run import CORPUS, find_fault, generate, list_corpus
from fuzz.target import Target
from fuzz.targets import make_targets

N_INPUTS = 60  # of each target


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)
        return {target.name: target for target in make_targets(tmp_path_factory.mktemp("fuzz"))}


NAMES = [
    "bif", "xmlbif", "net", "json", "dot", "graphml", "adjacency", "edges", "modelstring",
    "table-csv", "table-json", "table-arff", "table-csv.gz", "knowledge.json", "knowledge.csv",
    "types", "tsplib", "lolib", "run.json", "history.jsonl", "model.bif", "experiment.json",
    "runs.jsonl", "times.jsonl", "bench-experiment.json", "bench-runs.jsonl", "bench-times.jsonl",
    "strength-experiment.json", "strength-runs.jsonl", "strength-times.jsonl", "frame", "command",
    "checkpoint-search", "checkpoint-missing", "checkpoint-posterior", "checkpoint-solve",
    "checkpoint-proof", "certificate", "posterior.json", "strength.json", "averaged.json",
    "table-parquet", "table-feather", "table-arrows", "table-xlsx", "table-ods", "table-sqlite",
    "table-dta", "table-sav", "table-xpt", "table-zip", "request", "studio-files",
]  # fmt: skip


def test_every_target_has_a_test(targets):
    assert list(targets) == NAMES
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= set(NAMES)


@pytest.mark.filterwarnings("ignore::coevo.CoevoWarning")
@pytest.mark.parametrize("name", NAMES)
def test_valid_files_are_read(targets, name):
    for data in targets[name].seeds:
        targets[name].read(data)


@pytest.mark.parametrize("name", NAMES)
def test_mutated_files_end_in_a_result_or_in_our_own_error(targets, name, seed):
    for _, data in zip(range(N_INPUTS), generate(targets[name], f"test {seed}"), strict=False):
        fault = find_fault(targets[name], data)
        assert not fault, (data, fault)


@pytest.mark.parametrize("name", NAMES)
def test_earlier_faults(targets, name):
    for path in list_corpus(targets[name]):
        fault = find_fault(targets[name], path.read_bytes())
        assert not fault, (path, fault)


def test_the_fuzzer_finds_faults():
    def read(data):
        if b"\xff" in data:
            raise ZeroDivisionError
        return data

    target = Target("broken", [b"a,b\n1,2\n"], read)
    inputs = [data for _, data in zip(range(2000), generate(target, "0"), strict=False)]
    assert any(find_fault(target, data).endswith("ZeroDivisionError\n") for data in inputs)
    assert len(set(inputs)) > 1000
    assert inputs[0] == next(iter(generate(target, "0")))
    assert callable(mutate)
