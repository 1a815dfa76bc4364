"""Names of former releases, which live on for a while with a warning."""

import sys
import warnings
from collections.abc import Mapping
from typing import Any


def give_renamed(module: str, renamed: Mapping[str, str], name: str) -> Any:
    """Give what a former name of `module` is called now, with a `DeprecationWarning`."""
    if name not in renamed:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{name} is called {renamed[name]} now", DeprecationWarning, stacklevel=3)
    return getattr(sys.modules[module], renamed[name])
