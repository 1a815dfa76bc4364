"""The plain form of what is about to be sent, place by place: where text is not Unicode, and what takes its place."""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias, TypeGuard

import msgspec
from msgspec import Raw, Struct

from ._repair import Step, json_path
from ._variants import UnknownVariant, enc_hook

TOLD = 100
"""At most this many paths are listed."""
REPLACEMENT = "\ufffd"

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")
_ENCODER = msgspec.json.Encoder(enc_hook=enc_hook)
Trail: TypeAlias = "tuple[Trail, Step] | None"
"""A path as a linked list, so that no path is written for what is good."""


class Kept(dict[str, Any]):
    """The plain form of an `UnknownVariant`; being a class of its own, no key of a peer or user can pass for it."""


class Place(Struct, gc=False):
    """One place in a plain value: `holder[key]` is what stands there."""

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


def outgoing(obj: Any) -> Any:
    """Give the plain form of a value, fresh in every part; `Raw` and `Kept` stand in it as they are.

    Raises what `msgspec.to_builtins` raises.
    """
    # msgspec turns what a hook gives into plain values as well, except for an object of a class that it leaves alone.
    parts: dict[int, tuple[bytearray, Any]] = {}

    def hook(value: Any) -> Any:
        if isinstance(value, Raw | UnknownVariant):
            mark = bytearray()
            parts[id(mark)] = mark, value
            return mark
        return enc_hook(value)

    def plain(value: Any) -> Any:
        return msgspec.to_builtins(value, enc_hook=hook, builtin_types=(bytearray,))

    root = [plain(obj)]
    for place in places(root) if parts else ():
        part = parts.pop(id(place.holder[place.key]), None)
        if part is not None:
            value = part[1]
            place.holder[place.key] = _kept(plain(value.data)) if isinstance(value, UnknownVariant) else value
    return root[0]


def _kept(data: Any) -> Kept:
    if is_object(data):
        return Kept(data)
    raise TypeError(f"The data of an UnknownVariant is not an object but of the class {data.__class__.__name__}")


def places(root: list[Any]) -> Iterator[Place]:
    """Go through all places of the plain value `root[0]` in order; tuples become lists, so that all can be set."""
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
    """Whether a plain value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a plain value is an array, tuples apart."""
    return isinstance(value, list)


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _inside(holder: Any, trail: Trail) -> Iterator[Place]:
    if is_array(holder):
        return (Place(holder, index, (trail, index)) for index in range(len(holder)))
    return (Place(holder, key, (trail, key if isinstance(key, str) else str(key))) for key in list(holder))


def encode_replacing(obj: Any, /) -> tuple[bytes, list[str]]:
    """Encode an object as `encode` does, with U+FFFD for each lone surrogate in its texts.

    Gives the JSON and the paths of the texts that were changed, keys included, in order; at most 100 are listed.
    Raises as `encode` does for other reasons.
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
            _note(paths, place.path)
        elif is_object(value):
            bad = [k for k in value if isinstance(k, str) and not is_unicode(k)]
            if bad:
                for key in bad:
                    _note(paths, written((place.trail, key)))
                items = [(replaced(k) if isinstance(k, str) else k, v) for k, v in value.items()]
                value.clear()
                value.update(items)
    try:
        return _ENCODER.encode(root[0]), paths
    except ValueError as why:
        raise why_not_encoded(root[0], why) from None


def is_unicode(text: str) -> bool:
    """Whether a text can be encoded: it holds no surrogates."""
    return text.isascii() or _SURROGATE.search(text) is None


def replaced(text: str) -> str:
    """Put U+FFFD for each lone surrogate, and join those that are a pair."""
    if is_unicode(text):
        return text
    return _LONE.sub(REPLACEMENT, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def why_not_encoded(obj: Any, why: ValueError) -> ValueError:
    """Say where in an object msgspec met what it could not encode; `why` is what it raised."""
    try:
        root = [outgoing(obj)]
    except (ValueError, TypeError, RecursionError):
        return why
    for place in places(root):
        value = place.holder[place.key]
        problem = why_no_json(value)
        if problem is not None:
            return ValueError(f"{problem} - at `{place.path}`")
        if is_object(value):
            for key in value:
                if isinstance(key, str) and not is_unicode(key):
                    path = written((place.trail, key))
                    return ValueError(f"A key with a lone surrogate, which is not Unicode - at `{path}`")
    return why


def why_no_json(value: Any) -> str | None:
    """Say why a scalar cannot be encoded, or None where it can."""
    if isinstance(value, str):
        return None if is_unicode(value) else "Text with a lone surrogate, which is not Unicode"
    if isinstance(value, int) and value.bit_length() > 64:
        try:
            str(value)
        except ValueError:
            return "An integer with more digits than Python converts"
    return None


def _note(paths: list[str], path: str) -> None:
    if len(paths) < TOLD:
        paths.append(path)
