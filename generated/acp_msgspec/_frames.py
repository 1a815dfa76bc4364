"""Messages as far as JSON-RPC goes, whatever their method."""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType


class Frame(Struct):
    """A message as far as JSON-RPC goes: its parts as they came."""

    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Nothing(Struct, tag_field="method", tag=""):
    """Keeps a union of envelopes from having one member only, whose tag msgspec would take as optional."""

    nothing: Raw
