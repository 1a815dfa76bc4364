"""What the template of the message layer needs."""

from typing import Any

from generator.docs import Docs
from generator.emit.text import quoted
from generator.emit.views import doc_lines, plain_doc
from generator.model import Alias, Envelope, Module, Named, Routing
from generator.names import member_of

FRAME = ("Request", "Notification", "Response", "ErrorResponse", "ExtensionRequest", "ExtensionNotification")
FUNCTIONS = (
    "decode_agent_batch",
    "decode_agent_message",
    "decode_client_batch",
    "decode_client_message",
    "decode_result",
    "error_response",
    "extension_notification",
    "extension_request",
    "response",
)
ALWAYS = frozenset(
    {
        "Absent", "Any", "Buffer", "ClassVar", "DecodeError", "Envelope", "ExtensionMethod", "Generic", "Layer",
        "Literal", "Mapping", "MappingProxyType", "Method", "MethodOf", "OnSkip", "Raw", "Reader", "RequestError",
        "ResultT", "StrEnum", "TypeAlias", "UNSET", "Unknown", "UnsetType", "Untagged", "extension_method",
        "raw_json",
    }
)  # fmt: skip
SIDES = {"Client": "an agent", "Agent": "a client"}
"""Who sends, and who reads it."""


def messages_view(module: Module, docs: Docs) -> dict[str, Any]:
    """Make what the template of the message layer needs."""
    known = {d.name for d in module.definitions}
    texts = {m.name: docs.of_method(m.name) for m in module.methods}
    sides = [_side(module, sender) for sender in SIDES]
    results = list(dict.fromkeys(m.response for m in module.methods if m.response))
    builders = [b for b in (_builder(module, of_request=True), _builder(module, of_request=False)) if b["overloads"]]
    exports = ["METHODS", "AgentMethod", "ClientMethod", *FRAME, *FUNCTIONS, *(b["name"] for b in builders)]
    exports += [e.name for e in module.envelopes] + [r.name for r in module.routings] + [s["name"] for s in sides]
    view: dict[str, Any] = {
        "request_id": "RequestId" if "RequestId" in known else "int | str | None",
        "error": "Error" if "Error" in known else "Any",
        "envelopes": [_envelope(e, texts) for e in module.envelopes],
        "routings": [
            {
                "name": r.name,
                "line": _routing_line(r),
                "doc": doc_lines(docs.of_class(r.name, r.pointer), r.pointer, 0),
            }
            for r in module.routings
        ],
        "sides": sides,
        "unread": _unread(sides, builders),
        "results": results,
        "typed_results": [{"method": quoted(m.name), "response": m.response} for m in module.methods if m.response],
        "methods": [
            {
                "name": quoted(m.name),
                "handled_by": ", ".join(quoted(h) for h in m.handled_by),
                "request": m.request,
                "response": m.response,
                "notification": m.notification,
            }
            for m in module.methods
        ],
        "agent_methods": _members(module, "agent", texts),
        "client_methods": _members(module, "client", texts),
        "builders": builders,
        "exports": sorted([*exports, *(["Result"] if results else [])]),
    }
    uses = set(ALWAYS) | {e.params for e in module.envelopes if e.params} | (known & {"RequestId", "Error"})
    uses |= {t for m in module.methods for t in (m.request, m.response, m.notification) if t}
    uses |= {_routing_line(r).partition("[")[0] for r in module.routings}
    if view["typed_results"] or any(len(b["overloads"]) > 1 for b in builders):
        uses.add("overload")
    return {**view, "uses": uses, "texts": texts}


def _envelope(envelope: Envelope, texts: dict[str, str | None]) -> dict[str, Any]:
    plainly = f"The {'request' if envelope.is_request else 'notification'} `{envelope.method}`."
    return {
        "name": envelope.name,
        "base": "Request" if envelope.is_request else "Notification",
        "method": quoted(envelope.method),
        "params": envelope.params,
        "doc": doc_lines(texts[envelope.method] or plainly, envelope.pointer, 4),
    }


def _side(module: Module, sender: str) -> dict[str, Any]:
    """Collect what one side sends, protocol-level messages included."""
    wanted = (f"{sender}Request", f"{sender}Notification", "ProtocolLevelNotification")
    found = [r for name in wanted for r in module.routings if r.name == name]
    return {
        "name": f"MessageFrom{sender}",
        "sender": sender.lower(),
        "article": "an" if sender == "Agent" else "a",
        "other": SIDES[sender],
        "members": [*(r.name for r in found), *FRAME[2:]],
        "envelopes": list(dict.fromkeys(e for r in found for e in r.envelopes)),
    }


def _unread(sides: list[dict[str, Any]], builders: list[dict[str, Any]]) -> list[str]:
    """List the envelopes that can be built and that neither side reads: those of proxies."""
    read = {name for side in sides for name in side["envelopes"]}
    return [o["name"] for b in builders for o in b["overloads"] if o["name"] not in read]


def _builder(module: Module, *, of_request: bool) -> dict[str, Any]:
    """List the envelopes that a builder makes; params that are only another name for others come by those."""
    aliases = {d.name: d.kind for d in module.definitions if isinstance(d, Alias)}
    found = [
        {"name": e.name, "params": e.params}
        for e in module.envelopes
        if e.is_request is of_request and not isinstance(aliases.get(e.params or ""), Named)
    ]
    request_id = "RequestId" if any(d.name == "RequestId" for d in module.definitions) else "int | str | None"
    return {
        "name": "request" if of_request else "notification",
        "of_request": of_request,
        "id": f"id: {request_id}, " if of_request else "",
        "pass_id": "id=id, " if of_request else "",
        "overloads": found,
    }


def _members(module: Module, side: str, texts: dict[str, str | None]) -> list[dict[str, Any]]:
    found = [m for m in module.methods if side in m.handled_by and not m.name.startswith("$/")]
    return [
        {"name": member_of(m.key, None), "value": quoted(m.name), "doc": plain_doc(texts[m.name], 4)}
        for m in sorted(found, key=lambda m: m.key)
    ]


def _routing_line(routing: Routing) -> str:
    known = " | ".join(routing.envelopes)
    if routing.responses and known:
        return f"Fallback[{known}, Response | ErrorResponse]"
    if routing.responses:
        return "Untagged[Response | ErrorResponse]"
    if routing.name == "ProtocolLevelNotification":
        return f"Tagged[{known}]"
    return f"Routed[{known}, Extension{'Request' if routing.name.endswith('Request') else 'Notification'}]"
