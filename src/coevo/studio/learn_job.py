"""A search as a job of the studio: the steps of ``coevo learn``, with events instead of a terminal.

    status    what is being done, as a text
    opened    the table and the search: variables, method, limits, decisions
    resumed   the search continues after this generation; later rows are repeated
    rows      generations: [generation, evaluations, seconds, improved, score, arcs], time left;
              credit of masks, if they have any: [generation, credit of each mask]
    level     a score to compare with: of the greedy start, of the network behind an example
    network   the best network so far, as pairs of numbers of variables
    species   how far orders and masks have converged, and what each did for the other
              (`coevo.search.species`)
    result    the end of the search

Events are gathered for a tenth of a second, and summaries are limited to a small share of the
time, so a search in the studio takes as long as on the command line.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from coevo.bundled import list_networks, load_network
from coevo.errors import FileError
from coevo.learning import LearnTask
from coevo.search import Checkpoint, HistoryRow
from coevo.search.species import list_credit, summarise_species
from coevo.studio.events import read_events
from coevo.studio.jobs import JobContext, open_job_task
from coevo.studio.workspace import TABLE_FILE, read_object

__all__ = ["Reporter", "run"]

SECONDS_BETWEEN_ROWS = 0.1
SECONDS_BETWEEN_NETWORKS = 0.4
SECONDS_BETWEEN_SPECIES = 0.5
SHARE_OF_TIME = 0.02  # maximum share of the time for networks and species


def run(context: JobContext) -> bool:
    """Search as ``studio.json`` says; return whether a user stopped it."""
    resume = bool(context.options.get("resume"))
    with open_job_task(context, resume=resume) as (task, table):
        reporter = Reporter(context, task)
        reporter.open(read_object(table.folder / TABLE_FILE).get("network"))
        result = task.search([reporter.add_row], reporter.watch)
        reporter.finish()
        search = result.search
        context.emit(
            "result",
            score=search.score,
            stop_reason=search.stop_reason,
            generations=search.generations,
            seconds=search.seconds,
            notices=task.notices,
        )
        is_stopped = search.stop_reason == "interrupt"
        if n_samples := 0 if is_stopped else task.count_quick_samples(result):
            context.emit(
                "status", text=f"Quick bootstrap: {n_samples} samples by short searches ..."
            )
        task.run_bootstraps(result)
    for failure in task.failures.values():
        reason = str(failure).rstrip(".")
        raise FileError(
            f"The search has ended, but its files cannot be written: {reason}. Make room on the "
            "disk, then resume the run to write them."
        )
    return is_stopped


class Reporter:
    """Turns the generations of a search into events."""

    def __init__(self, context: JobContext, task: LearnTask) -> None:
        self._context, self._task = context, task
        self._progress = task.make_progress()
        self._rows: list[list[float]] = []
        self._credit: list[list[float]] = []
        self._rows_due = self._network_due = self._species_due = 0.0
        self._shown = -1  # the generation whose network was sent
        self._state: Any = None
        self._was_climbing = False

    def open(self, network: object) -> None:
        """Say what is searched, and what is known from an earlier session."""
        task, spec, limits = self._task, self._task.spec, self._task.spec.limits
        self._context.emit(
            "opened",
            variables=list(task.dataset.names),
            n_rows=task.dataset.n_rows,
            method=spec.method.name,
            score=spec.score.name,
            limits={
                "max_time": limits.max_time,
                "max_generations": limits.max_generations,
                "patience": limits.patience,
                "target": limits.target,
            },
            decisions=[str(decision) for decision in task.info.decisions],
            notices=list(task.notices),
        )
        if network in list_networks():
            self._emit_level_of(str(network))
        if task.checkpoint is not None:
            self._repeat(task.checkpoint)
        self._context.emit("status", text=f"Searching by {spec.method.name} ...")

    def _emit_level_of(self, name: str) -> None:
        """Send the score of the network that the rows were sampled from."""
        dag = load_network(name).dag
        if self._task.incomplete is None and set(dag.nodes) == set(self._task.dataset.names):
            score = self._task.scorer.score(dag)
            self._context.emit("level", name=f"the true network ({name})", score=score)

    def _repeat(self, checkpoint: Checkpoint) -> None:
        """Send the rows of the checkpoint that were not sent before the process ended."""
        sent = -1
        for event in read_events(self._context.folder):
            if event["kind"] == "rows":
                sent = max(sent, *(int(row[0]) for row in event["rows"]))
        generation = checkpoint.state.generation
        self._context.emit("resumed", generation=generation)
        for row in checkpoint.history:
            if row.generation > sent:
                self._keep(row)
        self._was_climbing = bool(getattr(checkpoint.state, "is_climbing", False))
        self._flush()

    def watch(self, checkpoint: Checkpoint) -> None:
        """Keep the state of a generation; the callback that follows reports it."""
        self._state = checkpoint.state

    def add_row(self, row: HistoryRow) -> None:
        """Report a generation, if it is time."""
        self._progress.update(row)
        self._keep(row)
        now = time.perf_counter()
        if now >= self._rows_due:
            self._flush()
            self._rows_due = now + SECONDS_BETWEEN_ROWS
        self._report_level(row)
        state = self._state
        if state is None:
            return
        if now >= self._network_due and state.improved > self._shown:
            self._send_network()
            spent = time.perf_counter() - now
            self._network_due = now + max(SECONDS_BETWEEN_NETWORKS, spent / SHARE_OF_TIME)
        if now >= self._species_due:
            self._send_species()
            spent = time.perf_counter() - now
            self._species_due = now + max(SECONDS_BETWEEN_SPECIES, spent / SHARE_OF_TIME)

    def finish(self) -> None:
        """Send what is left at the end of the search."""
        self._flush()
        if self._state is not None:
            self._send_network()
            self._send_species()

    def _report_level(self, row: HistoryRow) -> None:
        """Send the score at the end of the greedy start, with which memetic methods begin."""
        is_climbing = bool(getattr(self._state, "is_climbing", False))
        if self._was_climbing and not is_climbing:
            self._context.emit("level", name="the greedy start", score=row.score)
        self._was_climbing = is_climbing

    def _keep(self, row: HistoryRow) -> None:
        """Keep a generation for the next event."""
        self._rows.append(_list_row(row))
        credit = list_credit(row.details)
        if any(credit):  # there is none before evolution begins, and for other methods
            self._credit.append([row.generation, *(float(f"{each:.4g}") for each in credit)])

    def _flush(self) -> None:
        if self._rows:
            more = {"credit": self._credit} if self._credit else {}
            self._context.emit(
                "rows",
                rows=self._rows,
                left=self._progress.seconds_left,
                fraction=self._progress.fraction,
                patience=self._progress.patience,
                **more,
            )
            self._rows, self._credit = [], []

    def _send_network(self) -> None:
        state = self._state
        self._shown = state.improved
        arcs = np.argwhere(state.adjacency).tolist()
        self._context.emit("network", generation=state.improved, score=state.score, arcs=arcs)

    def _send_species(self) -> None:
        populations = self._state.get_populations()
        if populations is not None:
            summary = summarise_species(populations)
            self._context.emit("species", generation=self._state.generation, **summary)


def _list_row(row: HistoryRow) -> list[float]:
    seconds = round(row.seconds, 4)
    return [row.generation, row.evaluations, seconds, row.improved, row.score, row.n_arcs]
