r"""Measure how often CCMA reaches the best known score, how fast, and how far others stay below.

Data sets are samples of bundled networks, several of each, and published tables (`--data`, see
`published.py`). CCMA runs with several seeds on each, on one thread, with an empty cache and its
default budget (it stops after 25 generations without a better structure) or until a limit of CPU
time. The reference is the best score that anyone found (`best_known.json`), not the best of these
runs. The others are hill climbing and tabu search of coevo and the installed peers; each maximises
the same score or the nearest one that it has, and coevo scores all structures.

Seconds are CPU seconds from the table in memory on, with kernels loaded, so that other load on the
machine hardly matters. A journal keeps each run; the same command resumes. Each sample has a longer
run with another seed, so that the reference is not only made of the runs that it judges. `--prove`
tries to prove the best known scores: BIC without a limit on parents, the others with at most three.

    python benchmarks/champion.py --part small --journal champion.jsonl
    python benchmarks/champion.py --networks hailfinder --rows 5000 --scores bic --samples 1,2
    python benchmarks/champion.py --data DIR --journal champion.jsonl --prove 30 --write
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coevo
from best_known import TOLERANCE, BestKnown, name_sample
from coevo import Budget, Dataset, FamilyScorer, load_network, read_data, run_search, sample
from coevo.experiments.peers import PEERS
from coevo.graph import Constraints
from coevo.search import METHODS
from coevo.search.result import HistoryRow
from harness import describe_run, print_json, replace_block
from public_tables import read_frame
from published_scores import PROVED

HERE = Path(__file__).parent
PATIENCE = 25  # generations; the default of CCMA
MOST_PROVED = 60  # variables; families of wider tables take minutes to list
MOST_FOR_PEERS = 100  # variables; beyond it the peers take minutes
PUBLISHED_OPTIMA = {proved.table: proved for proved in PROVED}
Record = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """Samples of networks that are learned in the same way."""

    networks: tuple[str, ...]
    rows: tuple[int, ...]
    scores: tuple[str, ...]
    samples: tuple[int, ...]  # seeds
    n_seeds: int
    max_time: float  # CPU seconds of a run
    longer: float  # CPU seconds of the run for the reference


ALL = ("k2", "bdeu", "bic")
PARTS = {
    "small": Part(("alarm", "insurance"), (1000, 5000), ALL, (1, 2, 3), 10, 60, 5),
    "medium": Part(("hepar2", "win95pts"), (1000,), ALL, (1, 2, 3), 6, 30, 30),
    "large": Part(("andes", "pigs", "link", "munin"), (1000,), ("bic",), (1, 2), 2, 30, 60),
}
PUBLISHED_SEEDS = 10
LONGER_SEED = 1000  # no run of the table has it


@dataclass(frozen=True)
class Case:
    """One data set under one score."""

    name: str  # a bundled network or a published table
    n_rows: int | None  # None: all rows of a published table
    sample_seed: int | None
    score: str
    n_seeds: int
    max_time: float
    longer: float = 0.0
    max_parents: int | None = None

    @property
    def is_published(self) -> bool:
        """Whether it is a published table with a proved optimum."""
        return self.n_rows is None

    @property
    def group(self) -> str:
        """The row of the table; the samples of a network share it."""
        return self.name if self.n_rows is None else f"{self.name} {self.n_rows:,}"

    @property
    def data_set(self) -> str:
        """The name in `best_known.json`."""
        if self.n_rows is None or self.sample_seed is None:
            return self.name
        return name_sample(self.name, self.n_rows, self.sample_seed)

    def load(self, folder: Path | None) -> Dataset:
        """Return the rows."""
        if self.n_rows is not None and self.sample_seed is not None:
            return sample(load_network(self.name), self.n_rows, self.sample_seed)
        assert folder is not None
        frame, states = read_frame(folder, self.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some columns are constant
            return read_data(frame, states=states)


def list_cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield the data sets, the small ones first."""
    for name, part in PARTS.items():
        if options.part not in (None, name):
            continue
        chosen = Part(
            options.networks or part.networks,
            options.rows or part.rows,
            options.scores or part.scores,
            options.samples or part.samples,
            options.seeds or part.n_seeds,
            options.max_time or part.max_time,
            part.longer if options.longer is None else options.longer,
        )
        for network in chosen.networks:
            for rows in chosen.rows:
                for score in chosen.scores:
                    for seed in chosen.samples:
                        limits = (chosen.n_seeds, chosen.max_time, chosen.longer)
                        yield Case(network, rows, seed, score, *limits)
        if options.networks:
            return
    if options.data is not None and options.part in (None, "published"):
        for proved in PROVED:
            n_seeds = options.seeds or PUBLISHED_SEEDS
            limit = options.max_time or 60.0
            name, score = proved.table, proved.scoring
            yield Case(name, None, None, score, n_seeds, limit, 0.0, proved.max_parents)


def run_ccma(
    case: Case, dataset: Dataset, seed: int, patience: int | None, max_time: float
) -> Record:
    """Run CCMA once, with an empty cache; keep the CPU time of each improvement."""
    trace: list[tuple[float, float]] = []
    began = time.process_time()

    def record(row: HistoryRow) -> bool:
        seconds = time.process_time() - began
        if not trace or row.score > trace[-1][1]:
            trace.append((round(seconds, 3), row.score))
        return seconds >= max_time

    result = run_search(
        "ccma",
        FamilyScorer(dataset, case.score, n_jobs=1),
        constraints=Constraints(max_parents=case.max_parents),
        budget=Budget(patience=patience),
        random_state=seed,
        callbacks=[record],
    )
    seconds = round(time.process_time() - began, 3)
    return {"found": result.score, "seconds": seconds, "stop": result.stop_reason, "trace": trace}


def run_other(case: Case, dataset: Dataset, name: str) -> Record:
    """Run another system once."""
    scorer = FamilyScorer(dataset, case.score, n_jobs=1)
    began = time.process_time()
    if name in METHODS:
        limits = Constraints(max_parents=case.max_parents)
        found = run_search(name, scorer, constraints=limits, random_state=0).score
    else:
        dag, _ = PEERS[name].learn(dataset, scorer.scoring)
        found = scorer.score(dag)
    return {"found": found, "seconds": round(time.process_time() - began, 3)}


class Journal:
    """The runs that have ended, in memory and, with a path, in a file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        records = [json.loads(line) for line in lines]
        self._records = {
            (record["data_set"], record["score"], record["system"], record["seed"]): record
            for record in records
        }

    def get(self, case: Case, system: str, seed: int) -> Record | None:
        """Return a run that has ended, or None."""
        return self._records.get((case.data_set, case.score, system, seed))

    def add(self, case: Case, system: str, seed: int, record: Record) -> Record:
        """Keep a run."""
        full = {
            "data_set": case.data_set,
            "score": case.score,
            "system": system,
            "seed": seed,
            **record,
        }
        self._records[case.data_set, case.score, system, seed] = full
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(full) + "\n")
        return full


def measure(case: Case, options: argparse.Namespace, journal: Journal, best: BestKnown) -> Record:
    """Run all systems on one data set that the journal does not have, and offer what they found."""
    dataset: Dataset | None = None
    runs: dict[str, list[Record]] = {}
    for system in ("ccma", *options.others):
        runs[system] = []
        for seed in range(case.n_seeds if system == "ccma" else 1):
            record = journal.get(case, system, seed)
            if record is None and not options.only_journal:
                dataset = dataset or case.load(options.data)
                if dataset.n_variables > MOST_FOR_PEERS and system in PEERS:
                    break
                if case.max_parents is not None and system in PEERS:
                    break  # the peers have no limit, or another one
                if system == "ccma":
                    record = run_ccma(case, dataset, seed, PATIENCE, case.max_time)
                else:
                    record = run_other(case, dataset, system)
                journal.add(case, system, seed, record)
            if record is not None:
                finder = f"{system}, seed {seed}, benchmarks/champion.py"
                best.offer(case.data_set, case.score, record["found"], finder)
                runs[system].append(record)
    if case.is_published:
        proved = PUBLISHED_OPTIMA[case.name]
        scope = "all" if case.max_parents is None else f"{case.max_parents} parents"
        best.offer(case.data_set, case.score, proved.score, proved.source)
        best.set_proof(case.data_set, case.score, scope)
    else:
        if case.longer:
            dataset = search_longer(case, dataset, options, journal, best)
        if options.prove:
            dataset = dataset or case.load(options.data)
            prove_best(case, dataset, options, journal, best)
    return {"case": case, "runs": runs}


def search_longer(
    case: Case,
    dataset: Dataset | None,
    options: argparse.Namespace,
    journal: Journal,
    best: BestKnown,
) -> Dataset | None:
    """Run CCMA longer than any run of the table, with another seed, for the best known score."""
    record = journal.get(case, "ccma, longer", LONGER_SEED)
    if record is None and not options.only_journal:
        dataset = dataset or case.load(options.data)
        record = run_ccma(case, dataset, LONGER_SEED, 1_000_000, case.longer)
        journal.add(case, "ccma, longer", LONGER_SEED, record)
    if record is not None:
        finder = f"ccma, seed {LONGER_SEED}, {record['seconds']:.0f} CPU s, benchmarks/champion.py"
        best.offer(case.data_set, case.score, record["found"], finder)
    return dataset


def prove_best(
    case: Case, dataset: Dataset, options: argparse.Namespace, journal: Journal, best: BestKnown
) -> None:
    """Try to prove that no network is better than the best known one."""
    if dataset.n_variables > MOST_PROVED:
        return
    limit = None if case.score == "bic" else 3
    record = journal.get(case, "prove", 0)
    if record is None and not options.only_journal:
        proof = coevo.prove(
            dataset,
            score=case.score,
            max_parents=limit,
            random_state=0,
            progress=False,
            budget=coevo.Budget(max_time=options.prove),
        )
        record = journal.add(
            case, "prove", 0, {"found": proof.score, "is_proved": proof.is_proved, "gap": proof.gap}
        )
    known = best.get(case.data_set, case.score)
    if record is None or known is None:
        return
    if record["is_proved"] and abs(record["found"] - known) <= TOLERANCE:
        best.set_proof(case.data_set, case.score, "all" if limit is None else f"{limit} parents")


def find_time_to(record: Record, score: float) -> float | None:
    """Return the CPU time at which a run reached a score; None if it did not."""
    times = (seconds for seconds, found in record["trace"] if found >= score - TOLERANCE)
    return next(times, None)


def summarise(answers: list[Record], best: BestKnown, others: list[str]) -> Record:
    """Return the figures of the samples of one network under one score."""
    times: list[float | None] = []
    below: list[float] = []
    gaps: dict[str, list[float]] = {name: [] for name in others}
    for answer in answers:
        case = answer["case"]
        known = best.get(case.data_set, case.score)
        assert known is not None
        times += [find_time_to(run, known) for run in answer["runs"]["ccma"]]
        below += [known - run["found"] for run in answer["runs"]["ccma"]]
        for name in others:
            gaps[name] += [known - run["found"] for run in answer["runs"][name]]
    case = answers[0]["case"]
    proofs = [best.get_proof(answer["case"].data_set, case.score) for answer in answers]
    reached = sorted(seconds for seconds in times if seconds is not None)
    return {
        "data_set": case.group,
        "score": case.score,
        "max_parents": case.max_parents,
        "samples": len(answers),
        "runs": len(times),
        "at_best": len(reached),
        "median_seconds": statistics.median(reached) if reached else None,
        "mean_below": statistics.mean(below),
        "worst_below": max(below),
        "seconds": statistics.mean(
            run["seconds"] for answer in answers for run in answer["runs"]["ccma"]
        ),
        "proved": [proof for proof in proofs if proof is not None],
        "others": {name: statistics.mean(found) if found else None for name, found in gaps.items()},
    }


def describe_proofs(summary: Record) -> str:
    """Return how many of the best known scores are proved, and for which networks."""
    proofs = summary["proved"]
    if not proofs:
        return "no"
    scope = "" if proofs[0] == "all" else f", at most {proofs[0]}"
    return f"{len(proofs)} of {summary['samples']}{scope}"


def format_table(summaries: list[Record], others: list[str], note: str) -> str:
    """Return all figures as a Markdown table."""
    lines = [
        note,
        "",
        "| data set | score | samples x seeds | runs at the best known | CPU s to it, median "
        "| CPU s of a run | nats below, mean and worst | proved | " + " | ".join(others) + " |",
        "|---|---|---:|---:|---:|---:|---:|---|" + "---:|" * len(others),
    ]
    for one in summaries:
        limit = "" if one["max_parents"] is None else f", at most {one['max_parents']} parents"
        median = "" if one["median_seconds"] is None else f"{one['median_seconds']:.2f}"
        gaps = ["" if gap is None else f"{gap:,.1f}" for gap in one["others"].values()]
        lines.append(
            f"| {one['data_set']} | {one['score']}{limit} "
            f"| {one['samples']} x {one['runs'] // one['samples']} "
            f"| {one['at_best']} of {one['runs']} | {median} | {one['seconds']:.1f} "
            f"| {one['mean_below']:,.2f}, {one['worst_below']:,.2f} | {describe_proofs(one)} | "
            + " | ".join(gaps)
            + " |"
        )
    return "\n".join(lines)


def format_summary(summaries: list[Record], others: list[str]) -> str:
    """Return the table of the main README: one row for each network and number of rows."""
    lines = [
        "| data set | samples x seeds | k2 | bdeu | bic | worst, nats below | proved | "
        + " | ".join(others)
        + " |",
        "|---|---:|---:|---:|---:|---:|---|" + "---:|" * len(others),
    ]
    groups: dict[str, dict[str, Record]] = {}
    for one in summaries:
        if one["data_set"] not in PUBLISHED_OPTIMA:
            groups.setdefault(one["data_set"], {})[one["score"]] = one
    for name, by_score in groups.items():
        first = next(iter(by_score.values()))
        hits = [
            f"{by_score[score]['at_best']} of {by_score[score]['runs']}"
            if score in by_score
            else ""
            for score in ALL
        ]
        limited = sum(proof != "all" for one in by_score.values() for proof in one["proved"])
        proofs = sum(len(one["proved"]) for one in by_score.values())
        samples = sum(one["samples"] for one in by_score.values())
        proved = f"{proofs} of {samples}" + (f" ({limited} up to 3 parents)" if limited else "")
        gaps = []
        for other in others:
            found = [one["others"][other] for one in by_score.values()]
            known = [gap for gap in found if gap is not None]
            gaps.append(f"{statistics.mean(known):,.0f}" if known else "")
        worst = max(one["worst_below"] for one in by_score.values())
        lines.append(
            f"| {name} | {first['samples']} x {first['runs'] // first['samples']} | "
            + " | ".join(hits)
            + f" | {worst:,.1f} | {proved if proofs else 'no'} | "
            + " | ".join(gaps)
            + " |"
        )
    published = [one for one in summaries if one["data_set"] in PUBLISHED_OPTIMA]
    if published:
        hits_of = sum(one["at_best"] for one in published)
        runs = sum(one["runs"] for one in published)
        worst = max(one["worst_below"] for one in published)
        lines.append(
            f"| {len(published)} published tables | 1 x {PUBLISHED_SEEDS} | {hits_of} of {runs} "
            f"under the published score | | | {worst:,.1f} | all, as published |"
            + " |"
            * len(others)
        )
    return "\n".join(lines)


def split_names(text: str) -> tuple[str, ...]:
    """Return the parts of a list with commas."""
    return tuple(text.split(","))


def split_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a list with commas."""
    return tuple(int(part) for part in text.split(","))


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=[*PARTS, "published"], help="one part only")
    parser.add_argument("--networks", type=split_names)
    parser.add_argument("--rows", type=split_numbers)
    parser.add_argument("--scores", type=split_names)
    parser.add_argument("--samples", type=split_numbers, help="seeds of the samples")
    parser.add_argument("--seeds", type=int, help="number of seeds of CCMA")
    parser.add_argument("--max-time", type=float, help="CPU seconds of a run of CCMA")
    parser.add_argument("--data", type=Path, help="folder of the published tables")
    parser.add_argument("--others", default="hill_climb,tabu,pyagrum,pybnesian")
    parser.add_argument(
        "--longer", type=float, help="CPU seconds of the run for the best known score; 0 for none"
    )
    parser.add_argument("--prove", type=float, help="seconds for the proof of each score")
    parser.add_argument("--journal", type=Path, help="file of the runs that have ended, to resume")
    parser.add_argument(
        "--only-journal", action="store_true", help="make the table of these runs; run nothing"
    )
    parser.add_argument("--write", action="store_true", help="replace the tables of both READMEs")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    requested = [] if options.others == "none" else options.others.split(",")
    options.others = [name for name in requested if name in METHODS or PEERS[name].is_installed]
    journal, best = Journal(options.journal), BestKnown()
    small = FamilyScorer(sample(load_network("asia"), 200, 0), "k2", n_jobs=1)
    run_search("ccma", small, budget=Budget(max_generations=8), random_state=0)  # loads kernels
    groups: dict[tuple[str, str], list[Record]] = {}
    for case in list_cases(options):
        answer = measure(case, options, journal, best)
        best.save()
        if answer["runs"]["ccma"]:
            groups.setdefault((case.group, case.score), []).append(answer)
    summaries = [summarise(answers, best, options.others) for answers in groups.values()]
    environment = describe_run(*(PEERS[name].package for name in options.others if name in PEERS))
    note = (
        f"One thread of {environment['machine']}. Columns of the others: mean nats below the best "
        "known score."
    )
    table = format_table(summaries, options.others, note)
    if options.write:
        replace_block(HERE / "README.md", "champion", table)
        replace_block(
            HERE.parent / "README.md", "champion", format_summary(summaries, options.others)
        )
    if options.format == "json":
        print_json({"data_sets": summaries, **environment})
    else:
        print(table)


if __name__ == "__main__":
    main()
