"""What is tried between two peers, and what a client must see of it.

A client goes through the features one after the other and writes down what it sees as plain JSON. The agents know the
words that the clients prompt them with.
"""

from typing import Any

ECHO, NOTE, HOLDING = "_interop/echo", "_interop/note", "_interop/holding"
BIG = 5 * 1024 * 1024
MANY = 1000
TERMINAL = ("sh", "-c", 'echo "$WORD"; exit 3')
ERROR: dict[str, Any] = {"code": -32050, "message": "Refused", "data": {"n": 1}}
UNKNOWN_UPDATE: dict[str, Any] = {"sessionUpdate": "hologram", "n": 1}
LINES = "first\nsecond\nthird\n"
MODES = ["ask", "code"]

FEATURES: dict[str, Any] = {
    "initialize": {
        "version": 1,
        "load": True,
        "auth": ["password"],
        "agent": "interop-agent",
        "client": {"version": 1, "read": True, "write": True, "terminal": True, "name": "interop-client"},
    },
    "authenticate": {"ok": True, "wrong": -32000},
    "logout": {"ok": True},
    "session/new": {
        "id": "s2",
        "modes": MODES,
        "options": ["model", "fast"],
        "agent saw": {"cwd": "/tmp", "servers": [["files", "/bin/files", ["-v"]]]},
    },
    "session/load": {
        "updates": [["user_message_chunk", "question"], ["agent_message_chunk", "answer"]],
        "modes": MODES,
        "wrong": -32002,
    },
    "session/list": {"ids": ["old"], "cursor": "more"},
    "session/resume": {"modes": MODES},
    "session/close": {"ok": True},
    "session/delete": {"ok": True},
    "session/set_mode": {"ok": True, "update": "code"},
    "session/set_config_option, a choice": {"model": "large"},
    "session/set_config_option, a switch": {"fast": True},
    "text and thoughts in chunks": {
        "thoughts": ["hm", "m"],
        "texts": ["one ", "two ", "drei ü 🎈\u2028"],
        "stop": "end_turn",
    },
    "1,000 chunks, in order": {"count": MANY, "in order": True, "before the answer": True},
    "tool call with a diff": {
        "call": ["t1", "Edit a", "edit", "pending", [["/a", 3]], {"n": 1}],
        "states": ["pending", "in_progress", "completed"],
        "diff": ["/a", "old\n", "new\n"],
        "text": "done",
        "output": {"ok": True},
    },
    "plan": {"entries": [["first", "high", "completed"], ["then", "low", "pending"]]},
    "commands, settings, title, usage": {"commands": ["go"], "model": "large", "title": "Title", "usage": [5, 10]},
    "an update of an unknown kind": {"alive": True},
    "content of all kinds in a prompt": {"types": ["text", "image", "audio", "resource_link", "resource", "resource"]},
    "permission: allowed": {"said": "allow_once", "stop": "end_turn"},
    "permission: rejected": {"said": "reject_once", "stop": "end_turn"},
    "permission: cancelled with the turn": {"stop": "cancelled"},
    "fs/read_text_file": {"said": "second\n"},
    "fs/read_text_file, no such file": {"code": -32002},
    "fs/write_text_file": {"said": "written", "content": "text\nü\n"},
    "terminal: create, wait, output, release": {
        "exit": 3,
        "output": "hi\n",
        "truncated": False,
        "status": 3,
        "released": True,
    },
    "terminal: kill": {"ran": True, "signal": "SIGKILL"},
    "elicitation/create": {"content": {"name": "Ada"}},
    "session/cancel in mid turn": {"stop": "cancelled"},
    "two turns at once": {"stop": "end_turn", "other": "cancelled"},
    "$/cancel_request to the agent": {"code": -32800},
    "$/cancel_request to the client": {"said": "withdrawn", "told": True},
    "error: invalid params": {"code": -32602},
    "error: unknown method": {"code": -32601},
    "error: of the handler, with data": ERROR,
    "error: a handler that crashes": {"code": -32603},
    "_meta": {"meta": {"key": [1, "two"]}},
    "extension request": {"by client": {"echo": {"n": 1}}, "by agent": {"echo": {"n": 1}}},
    "extension notification": {"by client": [{"n": 3}], "by agent": [{"n": 2}]},
    "a notification, then a request": {"in order": True},
    "5 MB to the agent": {"size": BIG},
    "5 MB to the client": {"size": BIG},
}
"""The features in the order in which a client tries them, and what it then must have seen."""


def method_of(feature: str) -> str:
    """Name the method of a client that tries a feature."""
    whole = "_".join("".join(c if c.isalnum() else " " for c in feature).split()).lower()
    return f"x_{whole}" if whole[0].isdigit() else whole
