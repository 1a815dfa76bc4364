"""Roles: what the package does with a part of the schema beyond reading and writing it, such as serving files.

Whether a schema has a role follows from its methods and the shapes of their types (`lower/features.py`). A role that a
schema had and has no more is a decision: `api.txt` records those that were found.
"""

from generator.lower.features import SERVED
from generator.model import Features, Module, Struct

FILES, TERMINALS, PERMISSIONS = "files", "terminals", "permissions"
NEEDS: dict[str, str] = {
    "capabilities": "entries of `capabilities` whose paths lead from `initialize` to a field",
    "cancel_request": "the notification $/cancel_request, handled by both sides",
    "close": "the method session/close, handled by the agent, whose params have a sessionId",
    "conversation": "the role turn_of_client, session/new with a cwd and a sessionId, session/update with a sessionId "
    "and an update, and prompts of blocks one of which is text",
    "error": "a definition that the property `error` of responses refers to",
    FILES: "methods that read and write files, handled by the client",
    "handshake": "the request initialize, whose params and result each have capabilities, a protocolVersion, and an "
    "object with name and version",
    "idle": "a variant of the update of session/update that reports a session as idle",
    PERMISSIONS: "the request session/request_permission with options, and outcomes with the tags selected and "
    "cancelled",
    "request_id": "a definition that the property `id` of messages refers to",
    TERMINALS: "methods that run terminals, handled by the client, and an exit status",
    "turn_of_agent": "session/prompt and session/cancel with a sessionId, and a stop reason with the value cancelled",
    "turn_of_client": "session/prompt and session/cancel with a sessionId, and the role permissions",
}
"""Every role, with what it needs."""
_SERVICES = {FILES: "fs/", TERMINALS: "terminal/"}
"""The methods that a service needs begin with these."""


def roles_of(module: Module) -> list[str]:
    """List the roles that a schema has."""
    features = module.features
    found = {
        "capabilities": bool(module.needs),
        "error": module.error is not None,
        "request_id": module.request_id is not None,
        **(_of_features(features) if features is not None else {}),
    }
    return sorted(role for role, is_there in found.items() if is_there)


def _of_features(features: Features) -> dict[str, bool]:
    agent, client = features.agent_turn, features.client_turn
    return {
        "cancel_request": features.cancel_request is not None,
        "close": (agent is not None and agent.close is not None) or (client is not None and client.close is not None),
        "conversation": features.conversation is not None,
        FILES: features.files is not None,
        "handshake": features.handshake is not None,
        "idle": client is not None and client.idle is not None,
        PERMISSIONS: features.permissions is not None,
        TERMINALS: features.terminals is not None,
        "turn_of_agent": agent is not None,
        "turn_of_client": client is not None,
    }


def why_absent(role: str, module: Module) -> str:
    """Return why a schema lacks a role: the missing fields of a service, else what the role needs."""
    lacks = [t for m in SERVED if m.startswith(_SERVICES.get(role, "/")) for t in _lacking(m, module)]
    return f"it needs {NEEDS[role]}" + (f"; {', '.join(lacks)}" if lacks else "")


def _lacking(name: str, module: Module) -> list[str]:
    """List what a method that a service handles lacks."""
    methods = [m for m in module.methods if m.name == name and m.handled_by == ("client",) and m.request]
    if not methods:
        return [f"{name} is not a request that the client alone handles"]
    parts = zip((methods[0].request, methods[0].response), SERVED[name], strict=True)
    fields = {d.name: {f.name for f in d.fields} for d in module.definitions if isinstance(d, Struct)}
    lacking = [(part, sorted(wanted - fields.get(part or "", set()))) for part, wanted in parts]
    return [f"{part or name} lacks {' and '.join(missing)}" for part, missing in lacking if missing]
