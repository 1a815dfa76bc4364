"""The soak run, in small; `make soak` is the long one."""

import asyncio

import pytest

from tests.aio.soak import soak

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_and_nothing_leaks(seed: int) -> None:
    report = asyncio.run(soak(messages=10_000, kills=3, seed=seed))

    assert report.faults == []
    assert (report.lives, report.killed) == (4, 3)
    assert report.messages >= 10_000
    assert {"end_turn", "cancelled", "given up", "out of time"} >= set(report.turns)
