"""The lines that every side decodes: the five of `payloads/`, first and second choices, lists of growing length."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parent / "payloads"
SIZES = (1, 10, 100, 1_000, 10_000)
SHAPES = ("plan", "content")


def _request(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 3, "method": method, "params": params}


def _prompt(**contents: str) -> dict[str, Any]:
    resource = {"uri": "file:///a.png", "mimeType": "image/png", **contents}
    blocks = [{"type": "text", "text": "What is in this picture?"}, {"type": "resource", "resource": resource}]
    return _request("session/prompt", {"sessionId": "sess_abc123def456", "prompt": blocks})


def _new_session(**server: Any) -> dict[str, Any]:
    return _request("session/new", {"cwd": "/home/user/project", "mcpServers": [server, server]})


def _initialized(*methods: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((PAYLOADS / "initialize_response.json").read_bytes())
    answer["result"]["authMethods"] = list(methods)
    return answer


def _config(*options: dict[str, Any]) -> dict[str, Any]:
    select = {"type": "select", "id": "model", "name": "Model", "currentValue": "large", "options": list(options)}
    update = {"sessionUpdate": "config_option_update", "configOptions": [select]}
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": "sess_abc123def456", "update": update},
    }


_SECRET = {"name": "Authorization", "value": "Bearer abc123"}
_LARGE, _SMALL = {"value": "large", "name": "Large"}, {"value": "small", "name": "Small"}
_AGENT = {"id": "oauth", "name": "Log in with browser", "description": "Opens a browser"}
CHOICES: dict[str, dict[str, Any]] = {
    "session_prompt_text": _prompt(text="iVBORw0K" * 64),
    "session_prompt_blob": _prompt(blob="iVBORw0K" * 64),
    "session_new_stdio": _new_session(name="files", command="/usr/bin/files", args=["--all"], env=[_SECRET]),
    "session_new_http": _new_session(type="http", name="files", url="https://mcp.example", headers=[_SECRET]),
    "initialize_agent": _initialized(_AGENT, {**_AGENT, "id": "key"}),
    "initialize_terminal": _initialized(_AGENT, {**_AGENT, "id": "login", "type": "terminal", "args": ["login"]}),
    "config_options_flat": _config(_LARGE, _SMALL, {"value": "tiny", "name": "Tiny"}),
    "config_options_grouped": _config(
        {"group": "new", "name": "New", "options": [_LARGE]}, {"group": "old", "name": "Old", "options": [_SMALL]}
    ),
}
"""Lines in pairs: one with the first type of a union that msgspec cannot express, and one of its size with another."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a connection, and the part of it that the protocol types.

    `kind` is "session/update", "session/prompt", "session/new" or "initialize result"; `items` counts the items of a
    grown list, and is 0 for all other lines.
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
    messages |= {name: (message, 0) for name, message in CHOICES.items()}
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
