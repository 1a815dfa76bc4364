"""Deprecated names of former releases: they still work, with a warning."""

import sys
import warnings
from collections.abc import Mapping
from typing import Any


def resolve_renamed(module: str, renamed: Mapping[str, str], name: str) -> Any:
    """Return the object that a deprecated name of `module` refers to, with a `DeprecationWarning`."""
    if name not in renamed:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{name} is called {renamed[name]} now", DeprecationWarning, stacklevel=3)
    return getattr(sys.modules[module], renamed[name])
