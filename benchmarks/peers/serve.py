"""The loop of a side that is written in Python.

It needs the standard library alone, as it runs in the peers' venv, too.
The first line on standard output tells the cases, those that cannot be, and the versions. Then each line of standard
input names a case, and is answered with the seconds that one call of it takes, the best of a few short samples.
"""

import gc
import json
import platform
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version

from benchmarks.timing import one_round, repeats_of


def serve(cases: Mapping[str, Callable[[], object]], cannot: Mapping[str, str], *packages: str) -> None:
    """Run the loop over `cases`; `cannot` says why some are not there, `packages` are those whose version counts."""
    about = {"Python": platform.python_version()} | {name: version(name) for name in packages}
    _say({"cases": list(cases), "cannot": dict(cannot), "about": about})
    repeats: dict[str, int] = {}
    gc.collect()
    gc.freeze()
    gc.disable()  # the same for all sides that are written in Python, and to the good of those that make many objects
    for line in sys.stdin:
        name = line.strip()
        call = cases[name]
        if name not in repeats:
            repeats[name] = repeats_of(call)
        gc.collect()
        _say(one_round(call, repeats[name]))


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)
