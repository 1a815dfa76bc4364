"""Vendoring: a copy of this package in another project, under any name, that can be checked and updated.

`command` runs it. The files come from `origin`; `parts` and `imports` choose those that the wanted parts need, and
`exports` reduces an `__init__` to what the copy has. `record` is the copy's own description of itself, `compare` finds
what differs in a folder, and `write` changes it.
"""

from .command import vendor
from .errors import VendorError
from .parts import DEFAULT_PARTS, PARTS

__all__ = ["DEFAULT_PARTS", "PARTS", "VendorError", "vendor"]
