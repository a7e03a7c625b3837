"""``--cluster`` gives the results of one machine, and a cluster that dies loses no results."""

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

import coevo
from coevo.cli import main
from coevo.experiments import Paper, run_bench, run_paper, run_reviewed
from helpers.benches import SMALL as SMALL_BENCH
from helpers.clusters import dask_commands, kill
from helpers.interrupts import ctrl_c_works, interrupted_command, pressed_after
from helpers.papers import arguments_of, contents
from helpers.reviews import FEW

pytest.importorskip("distributed")

PAPER = Paper(networks=("asia",), rows=(60, 120), runs=3, generations=20, population=8)
N_RUNS = 12


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return the folder of the experiment, done by one process."""
    folder = tmp_path_factory.mktemp("alone")
    assert run_paper(PAPER, folder, figures=False).is_complete
    return contents(folder, timeless=True)


def test_the_paper_on_a_client(alone, dask_workers, tmp_path):
    with ctrl_c_works():
        run = pressed_after(3, run_paper)
        found = run(
            PAPER, tmp_path, figures=False, cluster=dask_workers.client, on_run=lambda *_: None
        )
    assert 3 <= found.n_done < N_RUNS
    assert run_paper(PAPER, tmp_path, figures=False, cluster=dask_workers.client).is_complete
    assert contents(tmp_path, timeless=True) == alone


def test_the_reviewed_systems_on_a_client(dask_workers, tmp_path):
    folders = tmp_path / "here", tmp_path / "there"
    assert run_reviewed(FEW, folders[0], figures=False).is_complete
    assert run_reviewed(FEW, folders[1], figures=False, cluster=dask_workers.client).is_complete
    here, there = (contents(folder, timeless=True) for folder in folders)
    assert here == there


def test_strength_on_a_client(dask_workers):
    rows = coevo.sample(coevo.load_network("cancer"), 500, random_state=1)
    options = {"bootstraps": 8, "method": "hill_climb", "random_state": 3}
    there = coevo.bootstrap_strength(rows, cluster=dask_workers.client, **options)
    assert there.as_dict() == coevo.bootstrap_strength(rows, **options).as_dict()


def test_bench_on_a_client(dask_workers, tmp_path):
    bench = replace(
        SMALL_BENCH, networks=("cancer",), rows=(60,), seeds=1, methods=("k2",), peers=()
    )
    folders = tmp_path / "here", tmp_path / "there"
    run_bench(bench, folders[0], figures=False)
    run_bench(bench, folders[1], figures=False, cluster=dask_workers.client)
    here, there = (folder.joinpath("runs.jsonl").read_text() for folder in folders)
    assert here == there
    assert here


def test_a_scheduler_that_dies_loses_nothing(alone, tmp_path, monkeypatch, capsys):
    command = ["coevo", "paper", *map(str, arguments_of(PAPER)), "--no-figures", "-o", "out"]
    monkeypatch.chdir(tmp_path)
    with dask_commands() as dask:
        dask.add_worker()
        kill_after(2, dask.scheduler, monkeypatch)
        monkeypatch.setattr(sys, "argv", [*command, "--cluster", dask.address])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"Error: The connection to the scheduler at {dask.address} is lost. ")
    assert len((tmp_path / "out/runs.jsonl").read_text().splitlines()) == 2
    monkeypatch.setattr(sys, "argv", command)
    main()
    assert contents(tmp_path / "out", timeless=True) == alone


def kill_after(n_runs, process, monkeypatch):
    """Kill a process after `n_runs` runs of an experiment are saved."""
    from coevo.io.journal import Journal

    add = Journal.add

    def add_and_kill(journal, record):
        add(journal, record)
        if len(journal.records) == n_runs:
            kill(process)

    monkeypatch.setattr(Journal, "add", add_and_kill)


def test_ctrl_c_from_a_terminal(tmp_path):
    """The signal goes to the workers too, which ignore it."""
    paper = replace(PAPER, runs=60, population=20)
    found = interrupted_command(
        "paper", *arguments_of(paper), "--no-figures", "--cluster", "local:2", "-o", "out",
        cwd=tmp_path, at="1 of ",
    )  # fmt: skip
    assert (found.code, found.out) == (130, "")
    assert found.err[0] == "Stopping after the current runs ...\n"
    assert found.err[-1].startswith("Interrupted. ")
    n_kept = len((tmp_path / "out/runs.jsonl").read_text().splitlines())
    assert found.err[1:] == [
        f"Interrupted. {n_kept} of 240 runs are stored in out. Repeat the command to resume.\n"
    ]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_tls(tmp_path, monkeypatch):
    """Certificates are in Dask's configuration, which the client reads like Dask's commands."""
    import dask

    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=coevo"]
    subprocess.run([*making, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    files = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    ours = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    settings = {f"distributed.comm.tls.{name}": str(file) for name, file in ours.items()}
    rows = coevo.sample(coevo.load_network("cancer"), 100, random_state=1)
    with dask_commands("--protocol", "tls", *map(str, files)) as cluster:
        assert cluster.address.startswith("tls://")
        cluster.add_worker()
        with dask.config.set(settings):
            found = coevo.bootstrap_strength(
                rows, bootstraps=2, method="k2", random_state=1, cluster=cluster.address
            )
    assert found.n_bootstraps == 2
