"""The repair engine: reads plain JSON values as a type and repairs what the schema marks as lenient.

Only the slow path needs this module, and whatever it imports; `hook.engine` loads it at the first need.

A reader is compiled once for each type. msgspec converts objects without a mismatch as a whole; the engine reads the
others field by field. An object is thus read once for each object around it, whose depth the schema bounds, so the cost
is linear in the size of the message.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from .._types.unions import UnionSpec, candidates, excluding_key, forbidden
from .compile import reader_of
from .context import MAX_RECORDED, RepairContext, Skipped
from .hook import dec_hook
from .paths import TOO_DEEP, Mismatch, Step
from .tolerant import repair_in_one_pass


def repair(
    kind: Any,
    value: Any,
    *,
    strict: bool = False,
    keep_unknown: bool = False,
    mismatch: Sequence[str] = (),
    limit: int = MAX_RECORDED,
) -> tuple[Any, list[Skipped]]:
    """Read the plain `value` as `kind` and list the repairs; raise `msgspec.ValidationError` with a path.

    `mismatch` and `limit` are those of `RepairContext`.
    """
    context = RepairContext(strict, keep_unknown, mismatch=mismatch, limit=limit)
    try:
        return context.read_root(reader_of(kind), value), context.repairs()
    except Mismatch as why:
        raise msgspec.ValidationError(str(why)) from None
    except RecursionError:
        raise msgspec.ValidationError(TOO_DEEP) from None


def repair_part(
    kind: Any,
    value: Any,
    *,
    keep_unknown: bool = False,
    path: tuple[Step, ...] = (),
    mismatch: Sequence[str] = (),
    limit: int = MAX_RECORDED,
) -> tuple[Any, list[Skipped]]:
    """Read the plain `value`, which stands at `path` of a message, as `kind`; list the repairs or raise `Mismatch`."""
    context = RepairContext(keep_unknown=keep_unknown, path=list(path), mismatch=mismatch, limit=limit)
    try:
        return reader_of(kind).read(value, context), context.repairs(path)
    except RecursionError:
        raise Mismatch(TOO_DEEP, path) from None


def read_strictly(kind: Any, value: Any) -> Any:
    """Read one type inside the fast path: no repairs, and `ValueError` for a mismatch."""
    try:
        return RepairContext(strict=True).read_root(reader_of(kind), value)
    except Mismatch as why:
        raise ValueError(why.message) from None


def read_union(spec: UnionSpec, value: Any) -> Any:
    """Read a union inside the fast path, or raise `ValueError`, so that the slow path decides.

    The first type that the value's shape allows must match without a repair. Whether a later type may be tried is
    known only after repairs.
    """
    for kind in candidates(spec, value):
        reader = reader_of(kind)
        if reader.viable(value) and excluding_key(forbidden(kind), value) is None:
            if hasattr(kind, "__struct_config__"):
                return msgspec.convert(value, kind, dec_hook=dec_hook)
            return read_strictly(kind, value)
    raise ValueError("No variant of the union fits")


__all__ = ["read_strictly", "read_union", "reader_of", "repair", "repair_in_one_pass", "repair_part"]
