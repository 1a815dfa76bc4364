"""Strict JSON: parsing that refuses what a schema never needs, type guards for plain values, and digests."""

import hashlib
import json
import math
from typing import Any, TypeGuard

from generator.errors import GeneratorError, child

DEEPEST = 100
"""The deepest nesting of objects and arrays that is read; upstream's files have about fifteen levels."""
LARGEST = 2**1000
"""The largest integer that is read, far beyond every format."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Return whether a JSON value is an array."""
    return isinstance(value, list)


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def parse_object(data: bytes, shown: str) -> dict[str, Any]:
    """Parse a JSON object; invalid JSON, a repeated key and any other value are errors."""

    def refuse_number(text: str) -> Any:
        raise GeneratorError(f"is not JSON: it has the number {text}", file=shown, hint="JSON has finite numbers only")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in pairs:
            if key in out:
                raise GeneratorError(
                    f"the key {key!r} appears twice in one object", file=shown, hint="keep one of them"
                )
            out[key] = value
        return out

    if data.lstrip()[:1] == b"<":
        raise GeneratorError("is not JSON: it is a page, or XML", file=shown, hint="name the place of the raw files")
    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=unique, parse_constant=refuse_number)
    except UnicodeDecodeError as why:
        raise GeneratorError(f"is not UTF-8: byte {why.start}", file=shown) from None
    except json.JSONDecodeError as why:
        raise GeneratorError(
            f"is not JSON: {why.msg} in line {why.lineno}, column {why.colno}",
            file=shown,
            hint="a download cut short looks like this",
        ) from None
    except RecursionError:
        raise GeneratorError("is nested too deeply", file=shown) from None
    except ValueError:  # the integer has more digits than Python reads
        raise GeneratorError("has an integer of thousands of digits", file=shown, hint="is this a schema?") from None
    _check_values(value, shown)
    if not is_object(value):
        raise GeneratorError("is not a JSON object", file=shown, hint="a schema file is an object with `$defs`")
    return value


def _check_values(value: Any, shown: str) -> None:
    """Refuse values that JSON allows and no schema needs, or that Python cannot process, with their places."""
    waiting: list[tuple[Any, str, int]] = [(value, "", 0)]
    while waiting:
        found, pointer, depth = waiting.pop()
        if depth > DEEPEST:
            # The pointer would be as long as the nesting is deep.
            raise GeneratorError("is nested too deeply", file=shown)
        problem = ""
        if isinstance(found, str) and _has_lone_surrogate(found):
            problem = "has a lone surrogate"
        elif isinstance(found, float) and not math.isfinite(found):
            problem = "has a number that is out of range"
        elif isinstance(found, int) and abs(found) > LARGEST:
            problem = "has an integer that is out of range"
        elif is_object(found):
            broken = next((key for key in found if _has_lone_surrogate(key)), None)
            problem = "" if broken is None else f"has a lone surrogate in the key {broken!r}"
            waiting += [(v, child(pointer, k), depth + 1) for k, v in found.items()]
        elif is_array(found):
            waiting += [(v, child(pointer, i), depth + 1) for i, v in enumerate(found)]
        if problem:
            raise GeneratorError(problem, file=shown, pointer=pointer)


def _has_lone_surrogate(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)
