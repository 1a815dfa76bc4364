"""Checks of objects before they are sent: msgspec does not check constructor arguments."""

from typing import Any

from msgspec import DecodeError, Raw, ValidationError

from ._decode.context import RepairContext
from ._decode.hook import engine
from ._decode.malformed import plain_values
from ._decode.outgoing import Fault, Place, is_object, outgoing, places, why_not_json, why_not_key, written
from ._decode.paths import TOO_DEEP, Mismatch


def validate(obj: Any, /, *, type: Any = None) -> None:
    """Check that strict readers accept `obj`, and that it keeps the constraints for senders.

    Checks required fields, types, ranges, enumeration values and tags; the constraints that readers do not enforce:
    lengths, patterns, bounds of floats, Base64, the form of URIs and date-times; and that JSON can carry every value:
    no NaN, infinity or lone surrogate anywhere, no integer with more digits than Python converts, no extra key that the
    class declares itself. An `UnknownVariant` passes if its tag is unknown.

    `type` is the type that the peer expects, by default the class of `obj`; pass it to check lists and unions.

    Raises `msgspec.ValidationError` with the JSON path of the first mismatch.
    """
    kind = obj.__class__ if type is None else type
    try:
        root = [outgoing(obj, with_faults=True)]
    except RecursionError:
        raise ValidationError(TOO_DEEP) from None
    except (TypeError, ValueError) as why:
        raise ValidationError(f"The object holds what JSON cannot carry: {why}") from None
    problem = _problem(root)
    try:
        reader = engine().reader_of(Any if type is None and not _is_decodable(kind) else kind)
        RepairContext(strict=True, sending=True).read_root(reader, root[0])
    except Mismatch as why:
        raise ValidationError(str(why)) from None
    except RecursionError:
        raise ValidationError(TOO_DEEP) from None
    if problem is not None:
        raise ValidationError(problem)


def _problem(root: list[Any]) -> str | None:
    """Find the first value that JSON cannot carry; replace raw JSON by plain values on the way.

    Raises `msgspec.ValidationError` for objects without a plain form: no reader can judge these.
    """
    found: str | None = None
    for place in places(root):
        value = place.holder[place.key]
        if isinstance(value, Fault):
            raise ValidationError(f"{value.problem} - at `{place.path}`")
        if isinstance(value, Raw):
            place.holder[place.key] = _plain(value, place)
        elif found is None:
            problem = why_not_json(value)
            if problem is not None:
                found = f"{problem} - at `{place.path}`"
            elif is_object(value):
                found = _problem_of_keys(value, place)
    return found


def _problem_of_keys(value: dict[Any, Any], place: Place) -> str | None:
    for key in value:
        problem = None if key.__class__ is str and key.isascii() else why_not_key(key)
        if problem is not None:
            return f"{problem} - at `{written((place.trail, str(key)))}`"
    return None


def _plain(raw: Raw, place: Place) -> Any:
    try:
        return plain_values(raw)
    except Mismatch:
        return raw  # a number out of range, which is valid only where JSON stays raw
    except DecodeError as why:
        raise ValidationError(f"{why} - at `{place.path}`") from None


def _is_decodable(kind: Any) -> bool:
    try:
        engine().reader_of(kind)
    except TypeError:
        return False
    return True
