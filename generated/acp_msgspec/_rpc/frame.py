"""Frames: the JSON-RPC members of a message, whatever its method."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError

from .._decode.malformed import BOM


class Frame(Struct):
    """The JSON-RPC members of a message; params, result and error stay raw."""

    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET

    @property
    def is_response(self) -> bool:
        """Whether the message is a response, judged by its keys."""
        return self.method is UNSET and (self.result is not UNSET or self.error is not UNSET)

    @property
    def has_usable_method(self) -> bool:
        """Whether the message can only be a request or a notification."""
        return isinstance(self.method, str) and self.method != "" and self.result is UNSET and self.error is UNSET

    @property
    def may_be_answered(self) -> bool:
        """False for responses and notifications, even malformed ones."""
        if isinstance(self.method, str):
            return self.id is not UNSET
        return self.result is UNSET and self.error is UNSET


class _Parts(Struct):
    """The members of a message, all raw."""

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
    """Read the frame of an invalid message; None if it has none."""
    try:
        return decode_frame(data.removeprefix(BOM))
    except (DecodeError, RecursionError):
        return None


def frame_by_parts(buf: Any) -> Frame:
    """Read a frame that contains a number out of range; a member with such a number becomes infinity.

    Raises `msgspec.ValidationError` if the JSON is not an object, and `msgspec.DecodeError` for malformed JSON.
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


def is_anonymous(part: Raw) -> bool:
    """Return whether a part of a batch has none of the keys that identify a message: id, method, result, error."""
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


class NeverSent(Struct, tag_field="method", tag=""):
    """A second member for unions with one envelope only: msgspec makes the tag of a lone Struct optional."""

    never: Raw
