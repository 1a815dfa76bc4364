"""Keys that decide whether two permission requests ask for the same thing."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import UNSET

from ..._rpc.encoding import to_builtins

LOCATED = frozenset({"read", "edit", "delete", "move", "search"})
"""Kinds of tool calls whose locations suffice to say what they do."""
TRACING = ("traceparent", "tracestate", "baggage")
"""Metadata that differs between requests for the same action."""


def digest(value: Any) -> bytes:
    """Return 32 bytes that are equal for equal JSON, whatever the order of keys in objects.

    Raises what `encode` raises for anything but JSON.
    """
    return sha256(msgspec.json.encode(to_builtins(value), order="sorted")).digest()


def compact_key(key: object) -> Any:
    """Return the digest of a key if it is JSON, which may be large and not hashable; any other key itself."""
    found = _digest_or_none(key)
    return key if found is None else found


def action_key(request: Any) -> bytes | None:
    """Return the digest of everything in a permission request that distinguishes one action from another.

    For a tool call that is its kind, title, raw input, locations, content and metadata; for a command, the command, its
    folder and its metadata. None if the request does not say what will be done. The title does not suffice, because the
    model chooses it and another action may have the same: the request must have raw input, content, or the locations of
    a call that works on files.
    """
    subject = getattr(request, "subject", None)
    call = getattr(request, "tool_call", None) or getattr(subject, "tool_call", None)
    if call is not None:
        names = ("kind", "title", "raw_input", "locations", "content")
        fields = {name: _field(call, name) for name in names}
        details = [fields["raw_input"], fields["content"]]
        if str(fields["kind"]) in LOCATED:
            details.append(fields["locations"])
        if not any(details):  # null or empty, such as input that is still to come
            return None
        return _digest_or_none(["tool", fields, _metadata(call)])
    command = _field(subject, "command")
    if not isinstance(command, str) or not command:
        return None
    return _digest_or_none(["command", command, _field(subject, "cwd"), _metadata(subject)])


def _field(value: Any, name: str) -> Any:
    found = getattr(value, name, None)
    return None if found is UNSET else found


def _metadata(value: Any) -> Any:
    found: dict[str, Any] | None = _field(value, "meta")
    return None if found is None else {k: v for k, v in found.items() if k not in TRACING}


def _digest_or_none(value: Any) -> bytes | None:
    try:
        return digest(value)
    except (TypeError, ValueError, OverflowError, RecursionError):  # ask about such a request each time
        return None
