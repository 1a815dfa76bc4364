"""The lines that every side decodes: the five of `payloads/`, one more, and lists of growing length."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parent / "payloads"
SIZES = (1, 10, 100, 1_000, 10_000)
SHAPES = ("plan", "content")
BLOB = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "session/prompt",
    "params": {
        "sessionId": "sess_abc123def456",
        "prompt": [
            {"type": "text", "text": "What is in this picture?"},
            {
                "type": "resource",
                "resource": {"uri": "file:///a.png", "mimeType": "image/png", "blob": "iVBORw0K" * 64},
            },
        ],
    },
}
"""A prompt whose resource is the second choice of a union without a tag."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a connection, and the part of it that the protocol types.

    `kind` is "session/update", "session/prompt" or "initialize result"; `items` counts the items of a grown list,
    and is 0 for a line of `payloads/`.
    """

    name: str
    kind: str
    items: int
    line: bytes
    params: bytes


def load(folder: Path) -> list[Line]:
    """Read the lines that `write` has written."""
    manifest: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text())
    return [
        Line(
            entry["name"],
            entry["kind"],
            entry["items"],
            (folder / f"{entry['name']}.line.json").read_bytes(),
            (folder / f"{entry['name']}.params.json").read_bytes(),
        )
        for entry in manifest
    ]


def write(folder: Path) -> None:
    """Write all lines to a folder, each with its params or result apart, for sides of any language."""
    folder.mkdir(parents=True, exist_ok=True)
    messages = {path.stem: (json.loads(path.read_bytes()), 0) for path in sorted(PAYLOADS.glob("*.json"))}
    messages["session_prompt_blob"] = (BLOB, 0)
    for shape in SHAPES:
        messages |= {f"{shape}-{size}": (_grown(shape, size), size) for size in SIZES}
    manifest: list[dict[str, Any]] = []
    for name, (message, items) in messages.items():
        part = "result" if "result" in message else "params"
        (folder / f"{name}.line.json").write_bytes(_compact(message))
        (folder / f"{name}.params.json").write_bytes(_compact(message[part]))
        kind = "initialize result" if part == "result" else message["method"]
        manifest.append({"name": name, "kind": kind, "items": items})
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


def _grown(shape: str, size: int) -> dict[str, Any]:
    if shape == "plan":
        entry = {"content": "Check for syntax errors", "priority": "high", "status": "pending"}
        update: dict[str, Any] = {"sessionUpdate": "plan", "entries": [entry] * size}
    else:
        item = {"type": "content", "content": {"type": "text", "text": "Analysis complete."}}
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "call_001", "content": [item] * size}
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": "sess_abc123def456", "update": update},
    }


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
