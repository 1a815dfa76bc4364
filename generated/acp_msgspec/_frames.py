"""Messages as far as JSON-RPC goes, whatever their method."""

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from ._hooks import Absent
from ._numbers import Int64


class Frame(Struct):
    """A message as far as JSON-RPC goes: its parts as they came."""

    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Answer(Struct, kw_only=True, gc=False):
    """A well-formed response, as most are; a subclass for each method has the type of its result."""

    jsonrpc: Literal["2.0"]
    id: Int64 | str
    result: Any
    method: Absent = UNSET
    error: Absent = UNSET


class Nothing(Struct, tag_field="method", tag=""):
    """Keeps a union of envelopes from having one member only, whose tag msgspec would take as optional."""

    nothing: Raw
