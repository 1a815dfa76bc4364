"""Each flood of `tests.floods` stays within what it may cost; `make soak` prints the figures."""

import pytest

from tests.floods.measure import FLOODS, load, measured

pytestmark = pytest.mark.endurance

load()


@pytest.mark.parametrize("name", sorted(FLOODS))
def test_a_flood_stays_within_its_bounds(name: str) -> None:
    flood, figures = FLOODS[name], measured(name)
    assert figures.memory <= flood.memory, figures
    # A busy machine may hold any process up for a moment; `make soak` measures with the bound itself.
    assert figures.pause <= flood.pause * 4, figures
    assert figures.seconds <= flood.seconds * 4, figures
