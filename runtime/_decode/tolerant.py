"""Repairs in one more pass: msgspec reads all but the lenient field in which the fast path failed.

The form of a type that this module reads (`wide`) takes any JSON in that field, and its reader repairs what is there.
So the work besides the pass is that of the bad field alone. Whatever else is wrong is left to the engine.
"""

from collections.abc import Callable
from threading import local
from typing import Any

from msgspec import UNSET, field

from .compile import reader_of
from .context import RepairContext, Skipped
from .objects import ObjectReader
from .paths import Mismatch
from .wide import NOTHING, Path, Paths, WideForm

_FORMS: dict[tuple[Any, bool], WideForm] = {}
_STATE = local()


def repair_in_one_pass(
    kind: Any, data: Any, pattern: str, *, keep_unknown: bool, limit: int
) -> tuple[Any, list[Skipped]] | None:
    """Read `data` as `kind`, whose fast path failed at `pattern`, and list the repairs; None if the engine must do it.

    `limit` is that of `RepairContext`. If repairs are listed, this is done for one repair alone, in a place whose path
    has no index: there the path of the pattern is that of the repair.
    """
    is_heard = limit > 0
    if is_heard and "[]" in pattern:
        return None
    form = _FORMS.get((kind, is_heard))
    if form is None:
        form = _FORMS[kind, is_heard] = WideForm(kind, lenient_field)
    context = _STATE.context = RepairContext(keep_unknown=keep_unknown, limit=limit)
    found = form.read(data, pattern)
    if found is NOTHING or (is_heard and context.count != 1):
        return None
    return found, context.skipped


def lenient_field(kind: Any, info: Any, below: Paths, at: Path) -> tuple[Any, Callable[[Any], Any]] | None:
    """Return the declaration of a lenient field that takes any JSON, and the function that repairs it.

    Returns None for a field that is not lenient.

    `info` describes the field of `kind`, which stands at the path `at`; `below` are the paths of errors inside it. A
    list in between may skip items, which only the engine does.
    """
    reader = reader_of(kind)
    if not isinstance(reader, ObjectReader) or any("[]" in path for path in below):
        return None
    if not reader.compiled:
        reader.compile()
    step = next((step for step in reader.steps if step[0] == info.name), None)
    if step is None:  # a key that must be absent
        return None
    _, _, unread, entry = step
    if entry.leniency is None or entry.fallback is None:
        return None
    path, fallback, refuses = list(at), entry.fallback, entry.reader.refuses

    def repaired(value: Any) -> Any:
        if value.__class__ in unread:
            return value
        if value is UNSET:
            return fallback()
        context: RepairContext = _STATE.context
        if context.count >= context.limit and entry.is_lenient(value) and refuses(value, context):
            context.count += 1
            return fallback()
        context.path[:] = path
        try:
            return entry.read(value, context)
        except Mismatch as why:
            raise ValueError(why.message) from None

    declared = field(name=info.encode_name) if info.required else field(default=UNSET, name=info.encode_name)
    return declared, repaired
