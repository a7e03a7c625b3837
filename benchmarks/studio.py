"""Measure the server of the studio: start, idle time, many clients, cost of a search, kills.

- **start**: seconds from the command to the first page with its script, in a warm cache.
- **idle**: CPU seconds a second, with nothing to do and one page open.
- **clients**: that many connections follow a search; each must receive every event once.
- **search**: CPU time that the studio adds to a search: reports in its process, and the server that
  sends them to one page, as a share of the CPU time of the search.
- **kills**: kill -9 of the server at random moments of searches, counted in events. After each, a
  new server resumes. Each search must end with the network of ``coevo learn``.

    python benchmarks/studio.py
    python benchmarks/studio.py --parts start idle --repeats 3
    python benchmarks/studio.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import coevo
from coevo.data import write_data
from coevo.files.run_folder import write_json
from coevo.io import read_run
from coevo.learning import check_settings, open_task
from coevo.studio import Workspace
from coevo.studio.jobs import JobContext
from coevo.studio.learn_job import Reporter
from harness import describe_run, print_json, replace_block
from studio_process import StudioProcess, list_children, make_patches, read_cpu_of

HERE = Path(__file__).parent
IDLE_SECONDS = 10.0
N_ROWS = 5000
GENERATIONS = 40
CLIENT_TIMEOUT = 120.0


def add_table(workspace: Workspace, network: str, n_rows: int) -> str:
    """Add rows that are sampled from a bundled network; return the name of the table."""
    rows = coevo.sample(coevo.load_network(network), n_rows, random_state=1)
    return workspace.store_table(network, f"{network}.csv", lambda path: write_data(rows, path))


def measure_start(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds to the first page."""
    seconds = []
    for _ in range(args.repeats):
        studio = StudioProcess(folder / "start")
        seconds.append(studio.open_page())
        studio.end()
    return {"median": median(seconds), "largest": max(seconds), "bar": 1.5}


def measure_idle(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return the share of a core that an idle server uses, with one page open."""
    studio = StudioProcess(folder / "idle")
    studio.open_page()
    stream = studio._connect("GET", "/api/events")
    time.sleep(5)  # the imports of the background end
    before = read_cpu_of(studio.process.pid)
    time.sleep(IDLE_SECONDS)
    share = (read_cpu_of(studio.process.pid) - before) / IDLE_SECONDS
    stream.close()
    studio.end()
    return {"share": share, "bar": 0.01}


async def follow(studio: StudioProcess, run: str, number: int) -> list[int]:
    """Return the numbers of the events that one client receives; some connect late or twice."""
    rng, seen = random.Random(number), list[int]()
    await asyncio.sleep(rng.random() * 2)
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", studio.port)
        after = seen[-1] if seen else 0
        writer.write(
            f"GET /api/events?run={run}&after={after} HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
            f"Authorization: Bearer {studio.secret}\r\n\r\n".encode()
        )
        left = rng.randint(5, 40) if number % 2 else sys.maxsize
        try:
            while left:
                line = await reader.readline()
                if line.startswith(b"id: "):
                    seen.append(int(line[4:]))
                elif line.startswith(b'data: {"kind": "done"'):
                    return seen
                elif not line:
                    break
                left -= line.startswith(b"data: ")
        finally:
            writer.close()


def measure_clients(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return how many clients received every event of a search once."""
    workspace = Workspace(folder / "clients")
    table = add_table(workspace, "alarm", 1000)
    studio = StudioProcess(workspace.root, make_patches(folder / "patches"))
    options = {"max_generations": GENERATIONS, "bootstraps": 0}
    body = {"table": table, "name": "followed", "options": options}
    studio.ask("POST", "/api/runs", body)

    async def follow_all() -> list[list[int]]:
        clients = [follow(studio, "followed", number) for number in range(args.clients)]
        return await asyncio.wait_for(asyncio.gather(*clients), CLIENT_TIMEOUT)

    found = asyncio.run(follow_all())
    studio.end()
    n_events = sum(1 for _ in (workspace.root / "runs/followed/events.jsonl").open())
    complete = sum(numbers == list(range(1, n_events + 1)) for numbers in found)
    return {"clients": args.clients, "complete": complete, "events": n_events}


def measure_search(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return the CPU seconds that the studio adds to a search, as shares of its own.

    Each share is of one run, so other work on the machine does not blur it: the reports in the
    process of the search, and the server that sends them to a page.
    """
    workspace = Workspace(folder / "search")
    table = add_table(workspace, "alarm", N_ROWS)
    reports, server = _measure_reports(workspace, table), _measure_server(workspace, table)
    return {"reports": reports, "server": server, "cost": reports + server, "bar": 0.05}


def _measure_reports(workspace: Workspace, table: str) -> float:
    """Return the share of the reports in the CPU time of a search, in this process."""
    path, runs = workspace.open_table(table).path, workspace.root / "runs"
    nowhere, shares = os.open(os.devnull, os.O_WRONLY), []
    for number in range(2):  # the first one loads the kernels
        context = _make_context(workspace, runs / f"reports {number}", nowhere)
        settings = check_settings("learn", max_generations=GENERATIONS, bootstraps=0)
        spent, began = 0.0, time.process_time()

        def timed(function: Callable[..., object]) -> Callable[..., None]:
            def call(*values: object) -> None:
                nonlocal spent
                start = time.thread_time()
                function(*values)
                spent += time.thread_time() - start

            return call

        with open_task(settings, path, output=context.folder) as task:
            reporter = Reporter(context, task)
            timed(reporter.open)(None)
            task.search([timed(reporter.add_row)], timed(reporter.watch))
            timed(reporter.finish)()
        shares.append(spent / (time.process_time() - began))
    return shares[-1]


def _make_context(workspace: Workspace, folder: Path, ticks: int) -> JobContext:
    """Return what the process of a job sees."""
    folder.mkdir()
    write_json(folder / "job.json", {"kind": "learn", "options": {}})
    with contextlib.chdir(workspace.root):
        return JobContext(folder, ticks)


def _measure_server(workspace: Workspace, table: str) -> float:
    """Return the CPU time of the server during a search that one page follows, as a share of it."""
    studio = StudioProcess(workspace.root)
    studio.open_page()
    studio.ask("GET", "/api/learn/choices")
    time.sleep(3)  # the imports of the background end
    before = read_cpu_of(studio.process.pid)
    options = {"max_generations": GENERATIONS, "bootstraps": 0}
    studio.ask("POST", "/api/runs", {"table": table, "name": "served", "options": options})
    worker = 0.0
    for _, event in studio.follow("served"):
        for pid in list_children(studio.process.pid):
            worker = max(worker, read_cpu_of(pid))
        if event["kind"] == "done":
            break
    share = (read_cpu_of(studio.process.pid) - before) / worker
    studio.end()
    return share


def measure_kills(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return how many kills there were, and how many searches ended with the same network."""
    workspace, patches = Workspace(folder / "kills"), make_patches(folder / "patches")
    table = add_table(workspace, "child", 500)
    rng, n_kills, n_runs, n_same, n_lost = random.Random(args.seed), 0, 0, 0, 0
    while n_kills < args.kills:
        options: Any = {"max_generations": GENERATIONS, "random_state": n_runs, "bootstraps": 0}
        known = {**options, "budget": {"max_generations": options["max_generations"]}}
        del known["max_generations"]
        expected = coevo.learn(workspace.open_table(table).path, **known)
        run = f"killed {n_runs}"
        body = {"table": table, "name": run, "options": options}
        kills, lost = _run_with_kills(workspace.root, patches, body, rng)
        found = read_run(workspace.locate("runs", run))
        same_history = [row["score"] for row in found.history] == [
            row.score for row in expected.search.history
        ]
        assert found.network is not None
        n_same += found.network.dag.arcs == expected.network.dag.arcs and same_history
        n_kills, n_runs, n_lost = n_kills + kills, n_runs + 1, n_lost + lost
    return {"kills": n_kills, "searches": n_runs, "same": n_same, "lost_events": n_lost}


def _run_with_kills(
    root: Path, patches: Path, body: dict[str, Any], rng: random.Random
) -> tuple[int, int]:
    """Run a search and kill the server again and again; return the kills and the lost events."""
    seen, n_kills, n_lost, is_new = 0, 0, 0, True
    while True:
        studio = StudioProcess(root, patches)
        if is_new:
            studio.ask("POST", "/api/runs", body)
            is_new = False
        left = rng.randint(1, 30)
        for number, event in studio.follow(body["name"], seen):
            n_lost += number - seen - 1
            seen, left = number, left - 1
            if event["kind"] == "failed":
                raise RuntimeError(event["error"])
            if event["kind"] == "done":
                studio.end()
                return n_kills, n_lost
            if not left:
                break
        studio.kill()
        n_kills += 1


PARTS: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "start": measure_start,
    "idle": measure_idle,
    "clients": measure_clients,
    "search": measure_search,
    "kills": measure_kills,
}


def format_table(found: dict[str, Any]) -> str:
    """Return the results as a Markdown table."""
    lines = ["| | measured | bar |", "|---|---|---|"]
    if part := found.get("start"):
        text = f"{part['median']:.2f} s (largest {part['largest']:.2f} s)"
        lines.append(f"| start to the first page | {text} | 1.5 s |")
    if part := found.get("idle"):
        lines.append(f"| idle server, of a core | {part['share']:.2%} | 1 % |")
    if part := found.get("clients"):
        text = f"{part['complete']} of {part['clients']} clients, {part['events']} events"
        lines.append(f"| clients that received every event once | {text} | all of 200 |")
    if part := found.get("search"):
        text = f"{part['cost']:.1%} of its CPU time ({part['reports']:.1%} for reports)"
        lines.append(f"| cost of a search in the studio | {text} | 5 % |")
    if part := found.get("kills"):
        text = f"{part['same']} of {part['searches']} searches after {part['kills']} kills"
        lines.append(f"| the same network after kill -9 | {text} | all, 30 kills |")
        lines.append(f"| events lost by kills | {part['lost_events']} | 0 |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="replace the table of README.md")
    args = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for part in args.parts:
            found[part] = PARTS[part](Path(folder), args)
            print(json.dumps({part: found[part]}), file=sys.stderr)
    print_json({**describe_run("starlette", "uvicorn"), **found})
    if args.write:
        replace_block(HERE / "README.md", "the studio", format_table(found))


if __name__ == "__main__":
    main()
