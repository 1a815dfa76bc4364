"""The second look at a value that did not decode strictly: repair what the schema forgives, place the rest.

A plan is compiled once per type from its annotations. Plans read plain JSON values (what `msgspec.json.decode` gives
without a type). Objects that are fine msgspec converts whole; the walk goes into the others, field by field. An object
is thus looked at once for each object around it, whose depth the schema bounds, so a walk is linear in the size of the
message.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, NoReturn, Protocol

import msgspec
from msgspec import Struct

from ._hooks import dec_hook
from ._portable import Portable
from ._unions import UnionSpec

Step = str | int
KEPT = "\x00kept"
"""The key that stands for an `UnknownVariant` in a value that is about to be sent."""


class Skipped(Struct, frozen=True):
    """One repair: the value at `path` did not fit and was replaced or dropped.

    `path` is a JSON path (`$.update.content[2]`), `value` the plain JSON value that stood there, `error` says what was
    wrong with it, and `action` is "default" (the field has its default now) or "dropped" (the item is gone).
    """

    path: str
    value: Any
    error: str
    action: Literal["default", "dropped"]


class Mismatch(Portable, Exception):
    """A value does not fit its plan; internal to the walk."""

    def __init__(self, message: str, path: tuple[Step, ...]) -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.message} - at `{json_path(self.path)}`" if self.path else self.message


class Walk(Struct):
    """The state of one walk: where it is, what it may forgive, what it has repaired so far."""

    strict: bool = False
    """Whether the first repair of what was read in the end is an error."""
    keep_unknown: bool = False
    sending: bool = False
    """Whether the value is about to be sent, so that the schema's advice counts."""
    misfit: Sequence[str] = ()
    """Where the strict pass found the first misfit, if the value comes from JSON text.

    Of such a value msgspec takes for fine what is fine, and no more, wherever it stands.
    """
    path: list[Step] = []
    skipped: list[Skipped] = []
    causes: list[tuple[str, tuple[Step, ...]]] = []
    """The message and the path of each mismatch that was repaired."""

    def whole(self, kind: Any, value: Any) -> Any:
        """Read the outermost value.

        A strict walk repairs, too, and refuses what it has repaired: a union must not take the next variant for one
        that would do with a repair.
        """
        out = _late.plan_of(kind).read(value, self)
        if self.strict and self.causes:
            raise Mismatch(*self.causes[0])
        return out

    def fail(self, message: str, *below: Step) -> NoReturn:
        """Say that the current value (or the one `below` it) does not fit."""
        raise Mismatch(message, (*self.path, *below))

    def expected(self, kind: str, value: Any) -> NoReturn:
        """Say which kind of value was wanted here."""
        self.fail(f"Expected `{kind}`, got `{kind_of(value)}`")

    def attempt(self, read: Callable[[Any, "Walk"], Any], value: Any) -> Any:
        """Read `value`; where that fails, forget what was repaired inside it and raise the mismatch again."""
        depth, repairs = len(self.path), len(self.skipped)
        try:
            return read(value, self)
        except Mismatch:
            self.forget(depth, repairs)
            raise

    def forget(self, depth: int, repairs: int) -> None:
        """Go back to where the path was of length `depth`, and so many repairs had been made."""
        del self.path[depth:]
        del self.skipped[repairs:], self.causes[repairs:]

    def skip(self, value: Any, why: Mismatch, action: Literal["default", "dropped"]) -> None:
        """Record a repair of the current value."""
        below = why.path[len(self.path) :]
        error = f"{why.message} - at `{json_path(below)}`" if below else why.message
        if self.strict:
            self.causes.append((why.message, why.path))
        self.skipped.append(Skipped(json_path(self.path), value, error, action))


class Plan(Protocol):
    """How to read one type."""

    def read(self, value: Any, walk: Walk) -> Any:
        """Give the typed value, or raise `Mismatch`."""
        ...

    def viable(self, value: Any) -> bool:
        """Say cheaply whether `value` could be read at all; a yes may still fail."""
        ...


_KINDS: dict[Any, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "array",
    tuple: "array",
    dict: "object",
}


def kind_of(value: Any) -> str:
    """Name the JSON type of a plain value, as msgspec's messages do."""
    name = _KINDS.get(value.__class__)
    return name or next((n for k, n in _KINDS.items() if isinstance(value, k)), type(value).__name__)


LONG = 100
"""Longer texts are cut in messages and paths, which would otherwise outgrow the message that they tell of."""


def cut(text: str) -> str:
    """Shorten a long text."""
    return text if len(text) <= LONG else text[:LONG] + "…"


def shown(value: Any) -> str:
    """Show a value in a message: short text as it is, anything of unknown depth or length by its kind."""
    if isinstance(value, str):
        return repr(cut(value))
    small = value is None or isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= 64)
    return repr(value) if small else f"of the type `{kind_of(value)}`"


def json_path(path: list[Step] | tuple[Step, ...]) -> str:
    """Write a path as `$.a.b[0]`; keys that are no identifiers stand in brackets, long ones are cut."""
    out = "$"
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            out += f".{step}" if len(step) <= LONG and step.isidentifier() else f"[{cut(step)!r}]"
    return out


def misfit_path(why: Exception) -> list[str]:
    """List the steps of the path at the end of what msgspec says, beginning with `$`, which stands for the value."""
    _, _, path = str(why).rpartition(" - at `")
    return path[:-1].replace("[", ".").replace("]", "").split(".") if path.startswith("$") else ["$"]


def candidates(spec: UnionSpec, value: Any) -> tuple[Any, ...]:
    """List the types that `value` may be read as, in the order in which they are tried."""
    if isinstance(value, dict) and spec.tag_field is not None:
        tag = value.get(spec.tag_field)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(tag, str):
            tagged = spec.tagged.get(tag, spec.catch_alls)
            return tagged + spec.fallbacks if spec.fallbacks else tagged
    return spec.fallbacks


def read_strictly(kind: Any, value: Any) -> Any:
    """Read one type inside msgspec's strict pass, or raise `ValueError`."""
    try:
        return Walk(strict=True).whole(kind, value)
    except Mismatch as why:
        raise ValueError(why.message) from None


class _Late:
    """Finds the compiler of plans at the first use: it knows every type, this module none."""

    @cached_property
    def plan_of(self) -> "Callable[[Any], Plan]":
        from ._compile import plan_of

        return plan_of


_late = _Late()


def read_union(spec: UnionSpec, value: Any) -> Any:
    """Read a union inside msgspec's strict pass, or raise `ValueError`, upon which the walk takes over.

    The first type that the value's shape allows must fit as it stands: whether a later one may be tried is for the
    walk to say, after repairs.
    """
    for kind in candidates(spec, value):
        plan = _late.plan_of(kind)
        if plan.viable(value):
            if hasattr(kind, "__struct_config__"):
                return msgspec.convert(value, kind, dec_hook=dec_hook)
            return read_strictly(kind, value)
    raise ValueError("No variant of the union fits")


def walk_mismatching(
    kind: Any, value: Any, *, keep_unknown: bool = False, path: tuple[Step, ...] = (), misfit: Sequence[str] = ()
) -> tuple[Any, list[Skipped]]:
    """Read the plain `value`, which stands at `path`, as `kind`; list the repairs or raise `Mismatch`."""
    walk = Walk(keep_unknown=keep_unknown, path=list(path), misfit=misfit)
    try:
        return _late.plan_of(kind).read(value, walk), walk.skipped
    except RecursionError:
        raise Mismatch("The value is nested too deeply", path) from None


def walk_over(
    kind: Any, value: Any, *, strict: bool = False, keep_unknown: bool = False, misfit: Sequence[str] = ()
) -> tuple[Any, list[Skipped]]:
    """Read the plain `value` as `kind` and list the repairs; raise `msgspec.ValidationError` with a path."""
    walk = Walk(strict, keep_unknown, misfit=misfit)
    try:
        return walk.whole(kind, value), walk.skipped
    except Mismatch as why:
        raise msgspec.ValidationError(str(why)) from None
    except RecursionError:
        raise msgspec.ValidationError("The value is nested too deeply") from None
