"""Pinning: copy the schemas of one upstream commit into `schema/`, without their descriptions, and write the lock.

`read_source` reads a source into memory, `plan_pin` says what would be written for it, `pin` writes it. `verify` holds
what is pinned against its source. The modules, from the bottom up: `origin` (what a source is), `archive`, `layout`,
`checkout`, `address`, `package` and `crate` (the kinds), `opening`, `lock` and `verify`.
"""

from collections.abc import Sequence
from pathlib import Path

from generator.pin.layout import NAMES, paths_of
from generator.pin.lock import Plan, plan
from generator.pin.opening import read_source
from generator.pin.origin import Origin, Pinned, PinnedFile
from generator.pin.verify import Verification, require_equal, verify
from generator.source import ROOT, Lock
from generator.write import Changes, compare_or_write

__all__ = [
    "NAMES",
    "Origin",
    "Pinned",
    "PinnedFile",
    "Plan",
    "Verification",
    "paths_of",
    "pin",
    "plan",
    "plan_pin",
    "read_source",
    "require_equal",
    "verify",
]


def pin(
    source: str,
    commit: str | None,
    release: str | None,
    root: Path = ROOT,
    *,
    date: str | None = None,
    drop_missing: bool = False,
    equal_to: Sequence[str] = (),
) -> tuple[Lock, Changes]:
    """Pin the schemas found at `source`; on any failure `schema/` stays unchanged.

    A pinned file that `source` lacks is an error, unless `drop_missing` is set. So is a file that has another structure
    in one of the sources `equal_to`.
    """
    found = plan_pin(source, commit, root, release=release, date=date, drop_missing=drop_missing, equal_to=equal_to)
    return found.lock, compare_or_write(root, found.files, found.former, check=False)


def plan_pin(
    source: str,
    commit: str | None,
    root: Path = ROOT,
    *,
    release: str | None = None,
    date: str | None = None,
    drop_missing: bool = False,
    equal_to: Sequence[str] = (),
) -> Plan:
    """Return what `pin` would write; nothing is written. Raises `GeneratorError` as `pin` does."""
    pinned = read_source(source, commit, root)
    for other in equal_to:
        pinned = pinned.vouched(require_equal(pinned, read_source(other, None, root)))
    return plan(pinned, root, release=release, date=date, drop_missing=drop_missing)
