"""Chains on a Dask cluster: the same bits as in this process, also after a resume."""

import pytest

import coevo
from coevo.errors import ParameterError
from helpers.values import as_values

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings(
    "ignore:Too few steps:coevo.CoevoWarning", "ignore:Not converged:coevo.CoevoWarning"
)
OPTIONS = {"sampler": "chains", "score": "bdeu", "max_time": None, "random_state": 4}


@pytest.mark.parametrize(("prior", "temperatures"), [("uniform", 2), ("order", 1)])
def test_the_cluster_gives_the_same_bits(dask_workers, tmp_path, prior, temperatures):
    rows = coevo.sample(coevo.load_network("cancer"), 300, random_state=3)
    chosen = {"prior": prior, "temperatures": temperatures}
    options = {**OPTIONS, **chosen, "candidates": 2, "tolerance": 1e-6}
    here = coevo.posterior(rows, max_steps=4, **as_values(options))
    client = dask_workers.client
    coevo.posterior(rows, max_steps=2, cluster=client, output=tmp_path, **as_values(options))
    there = coevo.posterior(
        rows, max_steps=4, cluster=client, output=tmp_path, resume=True, **as_values(options)
    )
    assert there.n_steps == here.n_steps == 4
    assert there.arcs.tobytes() == here.arcs.tobytes()
    assert there.trace.tobytes() == here.trace.tobytes()
    assert there.sample.arcs.tobytes() == here.sample.arcs.tobytes()


def test_the_tables_are_sent_once(dask_workers, monkeypatch):
    sent = []
    share = type(dask_workers).share
    monkeypatch.setattr(
        type(dask_workers), "share", lambda self, value: sent.append(value) or share(self, value)
    )
    rows = coevo.sample(coevo.load_network("cancer"), 300, random_state=3)
    coevo.posterior(rows, max_steps=3, cluster=dask_workers.client, **as_values(OPTIONS))
    assert len(sent) == 1


def test_bad_addresses_are_refused_before_work_starts():
    with pytest.raises(ParameterError) as error:
        coevo.posterior("no.csv", cluster="nowhere")
    assert str(error.value).startswith("'cluster' of posterior must be an address (tcp://HOST")
