"""Messages as far as JSON-RPC goes, whatever their method."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError

from .._decode.malformed import BOM


class Frame(Struct):
    """A message as far as JSON-RPC goes: its parts as they came."""

    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET

    @property
    def is_response(self) -> bool:
        """Whether the message answers a request, as far as its keys tell."""
        return self.method is UNSET and (self.result is not UNSET or self.error is not UNSET)

    @property
    def has_usable_method(self) -> bool:
        """Whether the message can be taken for a request or a notification and for nothing else."""
        return isinstance(self.method, str) and self.method != "" and self.result is UNSET and self.error is UNSET

    @property
    def may_be_answered(self) -> bool:
        """Say no to what looks like a response or a notification, whatever is wrong with it."""
        if isinstance(self.method, str):
            return self.id is not UNSET
        return self.result is UNSET and self.error is UNSET


class _Parts(Struct):
    """A message whose parts nobody has looked into."""

    jsonrpc: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


decode_frame: Callable[[Any], Frame] = msgspec.json.Decoder(Frame).decode
"""Read the frame of a message. Raises what a msgspec decoder raises."""
_PARTS = msgspec.json.Decoder(_Parts)
_PLAIN = msgspec.json.Decoder()


def frame_of(data: bytes) -> Frame | None:
    """Read the frame of a message that was found wanting; None where there is none to be read."""
    try:
        return decode_frame(data.removeprefix(BOM))
    except (DecodeError, RecursionError):
        return None


def frame_by_parts(buf: Any) -> Frame:
    """Read a frame that has a number which no reader takes; infinity stands for the part with that number.

    Raises `msgspec.ValidationError` for what is no object, and `msgspec.DecodeError` for what is no JSON.
    """
    parts = _PARTS.decode(buf)
    return Frame(
        _readable(parts.jsonrpc),
        _readable(parts.id),
        _readable(parts.method),
        parts.params,
        parts.result,
        parts.error,
    )


def says_nothing(part: Raw) -> bool:
    """Whether a part of a batch is not an object, or one without any of the keys that tell what a message is."""
    try:
        parts = _PARTS.decode(part)
    except (DecodeError, RecursionError):
        return True
    return parts.id is UNSET and parts.method is UNSET and parts.result is UNSET and parts.error is UNSET


def _readable(part: Raw | UnsetType) -> Any:
    if part is UNSET:
        return UNSET
    try:
        return _PLAIN.decode(part)
    except ValidationError:
        return float("inf")


class Nothing(Struct, tag_field="method", tag=""):
    """Keeps a union of envelopes from having one member only, whose tag msgspec would take as optional."""

    nothing: Raw
