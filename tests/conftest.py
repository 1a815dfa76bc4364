"""What holds for all tests.

There is one worker more than cores: some tests wait, for a program, a browser or a deadline.
An example of Hypothesis has no deadline, as other programs may hold it up; a test that names no number tries 100.
What mypy learns about the standard library it keeps beside the cache of `make check`, so that no test begins anew.
"""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.examples import examples

os.environ.setdefault("MYPY_CACHE_DIR", str(Path(__file__).parent.parent / ".mypy_cache" / "tests"))

# A worker holds much and makes little garbage in circles: looking for it as often as usual takes a tenth of the time.
gc.set_threshold(50_000)
settings.register_profile("acp", examples(100))
settings.load_profile("acp")


def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than cores."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return cores + 1


@pytest.fixture(scope="session")
def relaying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """A package and the module of the case `messages`, whose method `relay` has both sides, both kinds and any result.

    Upstream's schemas may have such a method or not.
    """
    from tests.support import CASES, generate_case, imported

    folder = tmp_path_factory.mktemp("relaying")
    generate_case(CASES / "shapes" / "messages" / "schema.json", "case", folder)
    with imported(folder, "case", "relaying") as found:
        yield found
