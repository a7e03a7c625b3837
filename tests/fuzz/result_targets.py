"""The results that commands read again: certificates, lists of edges, averaged networks."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import coevo
from coevo.bundled import load_network
from coevo.exact import check_certificate, read_certificate
from coevo.exact.certificate import CERTIFICATE
from coevo.posteriors.edge_files import compare_edges, read_edges, write_strength
from coevo.posteriors.sample import read_averaged
from fuzz.archives import mutate_packed
from fuzz.target import Target
from helpers.values import as_values


def make_result_targets(folder):
    """Yield a target for each file of a result."""
    folder.mkdir()
    table = coevo.sample(load_network("cancer"), 60, random_state=1)
    yield _make_certificate_target(folder, table)
    run = folder / "run"
    options = {"random_state": 1, "progress": False}
    coevo.posterior(
        table, method="k2", networks=8, output=run, **as_values({"score": "bdeu", **options})
    )
    strength = coevo.bootstrap_strength(table, bootstraps=4, method="hill_climb", random_state=1)
    write_strength(strength, folder / "strength", figures=False)
    places = run / "posterior", folder / "strength"
    for place, name in zip(places, ("posterior.json", "strength.json"), strict=True):
        yield _make_edges_target(places, place / name)
    yield _make_averaged_target(run / "posterior" / "averaged.json")


def _make_certificate_target(folder, table):
    """Return the target of ``coevo prove --check``."""
    path = folder / CERTIFICATE
    proofs = [
        coevo.prove(table, score="bic", random_state=1, progress=False).certificate,
        coevo.prove(table, score="bdeu", max_parents=2, random_state=1, progress=False).certificate,
    ]
    proofs.append(replace(proofs[0], weights={("Cancer", "Xray"): 0.5}, gap=1 << 40))
    seeds = [gzip.compress(json.dumps(one.as_dict()).encode(), mtime=0) for one in proofs]

    def read(data):
        path.write_bytes(data)
        return check_certificate(read_certificate(path), table)

    return Target("certificate", seeds, read, mutate_packed)


def _make_edges_target(places, path):
    """Return the target of ``coevo compare`` of two results."""
    content = path.read_bytes()

    def read(data):
        path.write_bytes(data)
        try:
            found = compare_edges(*(read_edges(str(place)) for place in places))
            return json.dumps(found.as_dict(), allow_nan=False)
        finally:
            path.write_bytes(content)

    return Target(path.name, [content], read)


def _make_averaged_target(path):
    content = path.read_bytes()

    def read(data):
        path.write_bytes(data)
        averaged = read_averaged(path)
        return averaged.query(averaged.variables[0].name)

    return Target(path.name, [content], read)
