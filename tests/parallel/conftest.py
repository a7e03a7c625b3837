"""One cluster for all tests of this folder: starting one takes longer than most of them."""

import pytest

from coevo.parallel import open_workers


@pytest.fixture(scope="session")
def _cluster():
    pytest.importorskip("distributed")
    with open_workers(cluster="local:2") as workers:
        yield workers


@pytest.fixture
def dask_workers(_cluster):
    """Return two workers of one thread each, as ``--cluster local:2`` has them.

    Some tests kill one, and Dask starts another in its place: it is waited for.
    """
    _cluster.client.wait_for_workers(2, timeout=60)
    return _cluster
