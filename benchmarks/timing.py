"""Measuring: the median of several rounds, the sides of one comparison taking turns."""

import gc
import time
from collections.abc import Callable, Mapping

ROUNDS = 51
SAMPLES = 3
TARGET = 0.001  # seconds of one sample: short, so that many pass between two turns of the scheduler


def compare(sides: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Give the seconds that one call of each side takes, as the median of `rounds`.

    The sides take turns, so that a slow moment of the machine meets them all; the collector rests meanwhile.
    """
    repeats = {name: repeats_of(call) for name, call in sides.items()}
    found: dict[str, list[float]] = {name: [] for name in sides}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in sides.items():
                found[name].append(one_round(call, repeats[name]))
    finally:
        gc.enable()
    return {name: median(times) for name, times in found.items()}


def median(values: list[float]) -> float:
    """Give the middle one of an odd number of values."""
    return sorted(values)[len(values) // 2]


def one_round(call: Callable[[], object], repeats: int) -> float:
    """Give the seconds that one call takes: the best of a few samples of `repeats` calls."""
    for _ in range(repeats // 4 + 1):  # what the side before left in the caches is not to be measured
        call()
    best = float("inf")
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, time.perf_counter() - start)
    return best / repeats


def repeats_of(call: Callable[[], object]) -> int:
    """Find how many calls make a sample."""
    for _ in range(10):  # what is built at the first calls is not to be counted
        call()
    repeats = 1
    while True:
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        spent = time.perf_counter() - start
        if spent > TARGET / 4:
            return max(1, int(repeats * TARGET / spent))
        repeats *= 4
