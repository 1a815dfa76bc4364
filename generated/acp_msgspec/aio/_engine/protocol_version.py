"""The version that an `initialize` names, which the engine must read even in an `initialize` of another version."""

from typing import Any

from msgspec import DecodeError, Struct, field, json

from ..._decode.malformed import BOM
from ..._types.portable import Portable

INITIALIZE = "initialize"
MAX_VERSION = 2**16 - 1
"""The greatest number that a protocol version can have."""


class UnsupportedVersion(Portable, Exception):
    """The agent answered `initialize` with a protocol version that this schema does not support.

    `answered` is that version, `spoken` are those of the schema. The protocol wants the client to disconnect.
    """

    def __init__(self, answered: int, spoken: tuple[int, ...]) -> None:
        """Store the agent's version and those of the schema."""
        super().__init__(answered, spoken)
        self.answered = answered
        self.spoken = spoken

    def __str__(self) -> str:
        """Name the agent's version and those of the schema."""
        own = ", ".join(map(str, self.spoken))
        return f"The agent speaks version {self.answered} of the protocol, this side speaks {own}"


class _Version(Struct):
    """The params or the result of `initialize`, in any version of the protocol."""

    protocol_version: Any = field(default=None, name="protocolVersion")


class _Initialize(Struct):
    params: _Version | None = None
    result: _Version | None = None


_INITIALIZE = json.Decoder(_Initialize)


def other_version(data: bytes, supported: tuple[int, ...]) -> int | None:
    """Return the protocol version that a message of `initialize` names; None if it is a supported one, or invalid."""
    try:
        message = _INITIALIZE.decode(data.removeprefix(BOM))
    except (DecodeError, RecursionError):
        return None
    part = message.params or message.result
    version = part.protocol_version if part is not None else None
    is_version = type(version) is int and 0 <= version <= MAX_VERSION
    return version if is_version and version not in supported else None
