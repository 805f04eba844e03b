import numpy
import pytest

import tile_tune


@pytest.fixture(autouse=True)
def same_tuning():
    """Each test begins, and leaves, with tuning as it is at the start."""
    with tile_tune.tuning("off", threads=0, database=""):
        yield


@pytest.fixture
def random():
    return numpy.random.default_rng(7)
