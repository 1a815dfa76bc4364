"""Names of a package that are loaded when they are first used, so that others need not wait for them."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any


def load_name(package: str, modules: Mapping[str, str], name: str) -> Any:
    """Load the module that has `name`, and make its names attributes of the package; `modules` tells which has which.

    Raises `AttributeError` for any other name.
    """
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module = import_module(f".{modules[name]}", package)
    names = {n: getattr(module, n) for n, m in modules.items() if m == modules[name]}
    vars(sys.modules[package]).update(names)
    return names[name]
