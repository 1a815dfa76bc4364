"""Plain form of a value that is about to be sent, place by place: finds what JSON cannot carry, and replaces it."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, TypeAlias, TypeGuard

import msgspec
from msgspec import Raw, Struct

from .._types.variants import CatchAll, UnknownVariant, declared, enc_hook
from .context import KeptVariant
from .paths import Step, json_path, shown

MAX_PATHS = 100
"""Paths of replaced texts that are listed."""
REPLACEMENT = "\ufffd"

_SURROGATE = "[\ud800-\udfff]"
_LONE = "[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
_ENCODER = msgspec.json.Encoder(enc_hook=enc_hook)
Trail: TypeAlias = "tuple[Trail, Step] | None"
"""A path as a linked list: it is written as text only for a value that has a problem."""


class Place(Struct, gc=False):
    """One place in a plain value: `holder[key]`."""

    holder: Any
    key: Any
    trail: Trail

    @property
    def path(self) -> str:
        """The JSON path of the place."""
        return written(self.trail)


def written(trail: Trail) -> str:
    """Write a trail as a JSON path."""
    steps: list[Step] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return json_path(steps[::-1])


class Fault(Struct, frozen=True):
    """Replaces an object that cannot be sent in a plain value; `problem` is the reason."""

    problem: str


def outgoing(obj: Any, *, with_faults: bool = False) -> Any:
    """Return the plain form of a value as a new tree; it may contain `Raw` and `KeptVariant`.

    With `with_faults`, an object that cannot be sent becomes a `Fault`. Otherwise, and for values nested too deeply,
    raises as `msgspec.to_builtins` does.
    """
    # msgspec converts the result of a hook as well, except for classes listed as builtin types: hence the bytearrays.
    parts: dict[int, tuple[bytearray, Any]] = {}

    def hook(value: Any) -> Any:
        part = value if isinstance(value, Raw | UnknownVariant) else _fault(value) if with_faults else None
        if part is None:
            return enc_hook(value)
        placeholder = bytearray()
        parts[id(placeholder)] = placeholder, part
        return placeholder

    def plain(value: Any) -> Any:
        return msgspec.to_builtins(value, enc_hook=hook, builtin_types=(bytearray,))

    root = [plain(obj)]
    for place in places(root) if parts else ():
        part = parts.pop(id(place.holder[place.key]), None)
        if part is not None:
            value = part[1]
            place.holder[place.key] = _kept(plain(value.data)) if isinstance(value, UnknownVariant) else value
    return root[0]


def _fault(value: Any) -> Fault | None:
    """Return why an object that msgspec does not know has no plain form, None if it has one."""
    if not isinstance(value, CatchAll):
        return Fault(f"The object holds what JSON cannot carry: an object of the class {value.__class__.__name__}")
    shape, extra = value.__shape__, value.extra
    own = {e.wire for name, e in declared(value.__class__).items() if name != "extra"} | {shape.tag_field}
    clash = next((key for key in extra if key in own), None)
    return None if clash is None else Fault(f"The extra key {shown(clash)} is a key of the class itself")


def _kept(data: Any) -> KeptVariant | Fault:
    if is_object(data):
        return KeptVariant(data)
    if isinstance(data, Fault):
        return data
    raise TypeError(f"The data of an UnknownVariant is not an object but of the class {data.__class__.__name__}")


def places(root: list[Any]) -> Iterator[Place]:
    """Visit all places of the plain value `root[0]` in order. Tuples become lists, so that every place can be set."""
    stack: list[Iterator[Place]] = [iter((Place(root, 0, None),))]
    while stack:
        place = next(stack[-1], None)
        if place is None:
            stack.pop()
            continue
        yield place
        value = place.holder[place.key]
        if _is_tuple(value):
            value = place.holder[place.key] = list(value)
        if value and (is_object(value) or is_array(value)):
            stack.append(_inside(value, place.trail))


def is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    """Return whether a plain value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Return whether a plain value is an array; tuples do not count."""
    return isinstance(value, list)


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _inside(holder: Any, trail: Trail) -> Iterator[Place]:
    if is_array(holder):
        return (Place(holder, index, (trail, index)) for index in range(len(holder)))
    return (Place(holder, key, (trail, key if isinstance(key, str) else str(key))) for key in list(holder))


def encode_replacing(obj: Any, /) -> tuple[bytes, list[str]]:
    """Encode an object as `encode` does, with U+FFFD for each lone surrogate in its texts.

    Returns the JSON and the paths of the changed texts and keys, in order, at most 100. Raises as `encode` does for
    other reasons.
    """
    try:
        return _ENCODER.encode(obj), []
    except UnicodeEncodeError:
        root = [outgoing(obj)]
    except ValueError as why:
        raise why_not_encoded(obj, why) from None
    paths: list[str] = []
    for place in places(root):
        value = place.holder[place.key]
        if isinstance(value, str) and not is_unicode(value):
            place.holder[place.key] = replaced(value)
            _append_path(paths, place.path)
        elif is_object(value):
            bad = [k for k in value if isinstance(k, str) and not is_unicode(k)]
            if bad:
                for key in bad:
                    _append_path(paths, written((place.trail, key)))
                items = [(replaced(k) if isinstance(k, str) else k, v) for k, v in value.items()]
                value.clear()
                value.update(items)
    try:
        return _ENCODER.encode(root[0]), paths
    except ValueError as why:
        raise why_not_encoded(root[0], why) from None


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded: it contains no surrogates."""
    return text.isascii() or re.compile(_SURROGATE).search(text) is None


def replaced(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, and join the two of a pair."""
    if is_unicode(text):
        return text
    return re.compile(_LONE).sub(REPLACEMENT, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def why_not_encoded(obj: Any, why: ValueError) -> ValueError:
    """Return an error with the path of the value that msgspec could not encode; `why` is its own error."""
    try:
        root = [outgoing(obj)]
    except (ValueError, TypeError, RecursionError):
        return why
    for place in places(root):
        value = place.holder[place.key]
        if not isinstance(value, float):
            problem = why_not_json(value)
            if problem is not None:
                return ValueError(f"{problem} - at `{place.path}`")
        for key in value if is_object(value) else ():
            problem = why_not_key(key)
            if problem is not None:
                return ValueError(f"{problem} - at `{written((place.trail, str(key)))}`")
    return why


def why_not_json(value: Any) -> str | None:
    """Return why JSON cannot carry a scalar, None if it can. msgspec itself would write NaN and infinity as null."""
    if isinstance(value, str):
        return None if is_unicode(value) else "Text with a lone surrogate, which is not Unicode"
    if isinstance(value, float) and not isfinite(value):
        return "JSON has no infinity and no NaN"
    if isinstance(value, int) and value.bit_length() > 64:
        try:
            str(value)
        except ValueError:
            return "An integer with more digits than Python converts"
    return None


def why_not_key(key: Any) -> str | None:
    """Return why a key cannot be written, None if it can. msgspec writes numbers as text."""
    if isinstance(key, str):
        return None if is_unicode(key) else "A key with a lone surrogate, which is not Unicode"
    if isinstance(key, int | float) and not isinstance(key, bool):
        return why_not_json(key)
    return f"A key of the class {key.__class__.__name__}, where only text may stand"


def _append_path(paths: list[str], path: str) -> None:
    if len(paths) < MAX_PATHS:
        paths.append(path)
