"""Measuring: the best of several rounds, the sides of one comparison taking turns."""

import gc
import time
from collections.abc import Callable, Mapping

ROUNDS = 21
TARGET = 0.01  # seconds of one round of one side


def compare(sides: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Give the seconds that one call of each side takes, as the median of `rounds`.

    The sides take turns, so that a slow moment of the machine meets them all; the collector rests meanwhile.
    """
    repeats = {name: _repeats(call) for name, call in sides.items()}
    found: dict[str, list[float]] = {name: [] for name in sides}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in sides.items():
                found[name].append(_once(call, repeats[name]))
    finally:
        gc.enable()
    return {name: sorted(times)[len(times) // 2] for name, times in found.items()}


def _once(call: Callable[[], object], repeats: int) -> float:
    for _ in range(repeats // 8 + 1):  # what the side before left in the caches is not to be measured
        call()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def _repeats(call: Callable[[], object]) -> int:
    repeats = 1
    while True:
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        spent = time.perf_counter() - start
        if spent > TARGET / 4:
            return max(1, int(repeats * TARGET / spent))
        repeats *= 4
