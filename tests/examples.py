"""How many examples Hypothesis tries: as many as a proof needs.

`make endurance` and a test that is run by itself try them all, `make test` a third, `make unit` a tenth.
`HYPOTHESIS_PROFILE=long` tries fifty times as many, and other ones each time.
"""

import os
from typing import Any

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "")
IS_LONG = PROFILE == "long"
SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
"""Checks of the health of a test that say nothing where values are whole messages."""


def examples(count: int, **more: Any) -> settings:
    """Try `count` examples in a full run; there is no deadline, as other programs may hold this one up."""
    factor = {"unit": 0.1, "test": 0.3, "long": 50}.get(PROFILE, 1)
    return settings(max_examples=max(int(count * factor), 5), deadline=None, **more)
