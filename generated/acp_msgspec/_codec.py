"""Decoding and encoding of any type: the fast path is msgspec's own decoder, and the slow path repairs."""

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

import msgspec
from msgspec import DecodeError, ValidationError

from ._decode.context import Skipped
from ._decode.hook import dec_hook, engine, second_choices
from ._decode.malformed import plain_values, reason, without_byte_order_mark
from ._decode.paths import TOO_DEEP, Mismatch, mismatch_path, pattern_of
from ._decode.report import OnSkip, record_limit, report
from ._decode.strict import DECODERS, strict_decoder
from ._rpc.encoding import encode, encode_into, encode_line, to_builtins
from ._types.inputs import Buffer, Unknown

if TYPE_CHECKING:
    # Type checkers bring it along. What describes a type need not be a class: unions, `list[…]`, `NewType`s.
    from typing_extensions import TypeForm  # pyright: ignore[reportMissingModuleSource]

T = TypeVar("T")


class Decoder(Generic[T]):
    """A reusable decoder of one type, for hot loops.

    `unknown` decides about an unknown tag in a closed union: "reject" raises, "keep" keeps it as an `UnknownVariant`.
    `on_skip` is called with each `Skipped` after a decode that repaired something.
    """

    __slots__ = ("decode", "on_skip", "type", "unknown")

    decode: Callable[[Buffer], T]
    """Decode one JSON document.

    Raises `msgspec.DecodeError` for malformed JSON and `msgspec.ValidationError`, with the path, for an invalid value
    that cannot be repaired.
    """

    @overload
    def __init__(
        self, type: builtins.type[T], *, unknown: Unknown = "reject", on_skip: OnSkip | None = None
    ) -> None: ...
    @overload
    def __init__(self, type: "TypeForm[T]", *, unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> None: ...
    @overload
    def __init__(
        self: "Decoder[Any]", type: Any, *, unknown: Unknown = "reject", on_skip: OnSkip | None = None
    ) -> None: ...
    def __init__(self, type: Any, *, unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> None:
        """Build the decoder; raise `TypeError` for a type that cannot be decoded."""
        if unknown not in ("reject", "keep"):
            raise ValueError(f"unknown must be 'reject' or 'keep', not {unknown!r}")
        self.type = type
        self.unknown: Unknown = unknown
        self.on_skip = on_skip
        strict = msgspec.json.Decoder(type, dec_hook=dec_hook).decode

        # A closure: a method would cost a lookup of itself and of the strict decoder on every call.
        def decode(buf: Buffer, /) -> Any:
            try:
                return strict(buf)
            except (DecodeError, RecursionError, UnicodeEncodeError) as why:
                return _decode_slow(why, buf, type, unknown, on_skip)

        self.decode = decode


@overload
def decode(buf: Buffer, /, *, type: type[T], unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> T: ...
@overload
def decode(buf: Buffer, /, *, type: "TypeForm[T]", unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> T: ...
@overload
def decode(buf: Buffer, /, *, type: Any, unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> Any: ...
def decode(buf: Buffer, /, *, type: Any, unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> Any:
    """Decode one JSON document as `type`, and repair invalid values where the schema is lenient.

    `type` is a class or any other type, such as the union `v1.SessionUpdate`; type checkers infer the result from it.
    `buf` is UTF-8 JSON as bytes, bytearray, memoryview, or text. `unknown` and `on_skip` are those of `Decoder`, and so
    are the errors: `msgspec.DecodeError` for malformed JSON, `msgspec.ValidationError` for an invalid value.
    """
    try:
        return (DECODERS.get(type) or strict_decoder(type))(buf)
    except (DecodeError, RecursionError, UnicodeEncodeError) as why:
        return _decode_slow(why, buf, type, unknown, on_skip)


@overload
def decode_strict(buf: Buffer, /, *, type: type[T]) -> T: ...
@overload
def decode_strict(buf: Buffer, /, *, type: "TypeForm[T]") -> T: ...
@overload
def decode_strict(buf: Buffer, /, *, type: Any) -> Any: ...
def decode_strict(buf: Buffer, /, *, type: Any) -> Any:
    """Decode one JSON document as `type` without repairs: every reader accepts what this accepts.

    Raises as `decode` does, and also for values that `decode` would repair.
    """
    try:
        return (DECODERS.get(type) or strict_decoder(type))(buf)
    except (DecodeError, RecursionError, UnicodeEncodeError) as why:
        return _decode_slow(why, buf, type, "reject", None, strict=True)


@overload
def decode_with_repairs(buf: Buffer, /, *, type: type[T], unknown: Unknown = "reject") -> tuple[T, list[Skipped]]: ...
@overload
def decode_with_repairs(
    buf: Buffer, /, *, type: "TypeForm[T]", unknown: Unknown = "reject"
) -> tuple[T, list[Skipped]]: ...
@overload
def decode_with_repairs(buf: Buffer, /, *, type: Any, unknown: Unknown = "reject") -> tuple[Any, list[Skipped]]: ...
def decode_with_repairs(buf: Buffer, /, *, type: Any, unknown: Unknown = "reject") -> tuple[Any, list[Skipped]]:
    """Decode one JSON document as `type` and list the repairs.

    Raises as `decode` does.
    """
    skipped: list[Skipped] = []
    return decode(buf, type=type, unknown=unknown, on_skip=skipped.append), skipped


@overload
def convert(value: Any, /, *, type: type[T], unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> T: ...
@overload
def convert(value: Any, /, *, type: "TypeForm[T]", unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> T: ...
@overload
def convert(value: Any, /, *, type: Any, unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> Any: ...
def convert(value: Any, /, *, type: Any, unknown: Unknown = "reject", on_skip: OnSkip | None = None) -> Any:
    """Convert plain JSON values (what `json.loads` returns) to `type`, as `decode` does for JSON text.

    Raises `msgspec.ValidationError` for an invalid value that cannot be repaired.
    """
    try:
        return msgspec.convert(value, type, dec_hook=dec_hook)
    except ValidationError:
        return _repaired(value, type, unknown, on_skip)
    except RecursionError:
        raise ValidationError(TOO_DEEP) from None
    except UnicodeEncodeError:
        raise ValidationError("The value contains text with a lone surrogate, which is not Unicode") from None
    except ValueError:  # msgspec cannot write an integer with that many digits into its error text
        return _repaired(value, type, unknown, on_skip)


def _decode_slow(
    why: Exception, buf: Buffer, kind: Any, unknown: Unknown, on_skip: OnSkip | None, *, strict: bool = False
) -> Any:
    """Decode what the fast path rejected with `why`."""
    if not isinstance(why, ValidationError):
        rest = without_byte_order_mark(buf)
        if rest is not None:
            try:
                return strict_decoder(kind)(rest)
            except (DecodeError, RecursionError, UnicodeEncodeError) as other:
                why, buf = other, rest
    if isinstance(why, ValidationError):
        wide, pattern = second_choices(), pattern_of(why)
        found = wide.second_choice(kind, buf, pattern)
        if found is not wide.NOTHING:
            return found
        if not strict:
            keep, limit = _keeps(unknown), record_limit(on_skip)
            repaired = engine().repair_in_one_pass(kind, buf, pattern, keep_unknown=keep, limit=limit)
            if repaired is not None:
                report(repaired[1], on_skip)
                return repaired[0]
    value, mismatch = _plain(why, buf), mismatch_path(why)
    if strict:
        return engine().repair(kind, value, strict=True, mismatch=mismatch)[0]
    return _repaired(value, kind, unknown, on_skip, mismatch)


def _plain(why: Exception, buf: Buffer) -> Any:
    """Decode to plain values after the fast path failed with `why`; raise if the JSON is malformed."""
    if not isinstance(why, ValidationError):
        raise DecodeError(reason(why, buf)) from None
    try:
        return plain_values(buf)
    except Mismatch as mismatch:
        raise (DecodeError if mismatch.message == TOO_DEEP else ValidationError)(str(mismatch)) from None


def _repaired(value: Any, kind: Any, unknown: Unknown, on_skip: OnSkip | None, mismatch: Sequence[str] = ()) -> Any:
    out, skipped = engine().repair(
        kind, value, keep_unknown=_keeps(unknown), mismatch=mismatch, limit=record_limit(on_skip)
    )
    if skipped:
        report(skipped, on_skip)
    return out


def _keeps(unknown: str) -> bool:
    if unknown not in ("reject", "keep"):
        _refuse(unknown)
    return unknown == "keep"


def _refuse(unknown: str) -> NoReturn:
    raise ValueError(f"unknown must be 'reject' or 'keep', not {unknown!r}")


__all__ = [
    "Decoder",
    "convert",
    "decode",
    "decode_strict",
    "decode_with_repairs",
    "encode",
    "encode_into",
    "encode_line",
    "to_builtins",
]
