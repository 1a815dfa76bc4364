"""What holds for all tests.

An example of Hypothesis has no deadline, as other programs may hold it up; a test that names no number tries 100.
What mypy learns about the standard library it keeps beside the cache of `make check`, so that no test begins anew.
"""

import os
from pathlib import Path

from hypothesis import settings

from tests.examples import examples

os.environ.setdefault("MYPY_CACHE_DIR", str(Path(__file__).parent.parent / ".mypy_cache" / "tests"))

settings.register_profile("acp", examples(100))
settings.load_profile("acp")
