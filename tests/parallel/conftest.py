"""One cluster for all tests of this folder: starting one takes longer than most of them."""

import pytest

from coevo.parallel import open_workers


@pytest.fixture(scope="session")
def dask_workers():
    """Return two workers of one thread each, as ``--cluster local:2`` has them."""
    pytest.importorskip("distributed")
    with open_workers(cluster="local:2") as workers:
        yield workers
