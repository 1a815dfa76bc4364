"""What the template of the message layer needs."""

from typing import Any

from generator.docs import Docs
from generator.emit.text import quoted
from generator.emit.views import doc_lines, plain_doc
from generator.engine import member_name
from generator.model import Envelope, Module


def messages_view(module: Module, docs: Docs) -> dict[str, Any]:
    """Make what the template of the message layer needs."""
    known = {d.name for d in module.definitions}
    texts = {m.name: docs.of_method(m.name) for m in module.methods}
    uses = {
        "AcpStruct",
        "Any",
        "ClassVar",
        "Literal",
        "Mapping",
        "MappingProxyType",
        "Method",
        "StrEnum",
        "TypeAlias",
        "always",
    }
    uses |= {e.params for e in module.envelopes if e.params}
    uses |= {t for m in module.methods for t in (m.request, m.response, m.notification) if t}
    request_id = "RequestId" if "RequestId" in known else "int | str | None"
    error = "Error" if "Error" in known else "Any"
    uses |= {n for n in ("RequestId", "Error") if n in known}
    uses |= {_routing_line(r.envelopes, responses=r.responses).partition("[")[0] for r in module.routings}
    frame = ["Request", "Notification", "Response", "ErrorResponse", "METHODS", "AgentMethod", "ClientMethod"]
    return {
        "request_id": request_id,
        "error": error,
        "envelopes": [
            {
                "name": e.name,
                "base": "Request" if e.is_request else "Notification",
                "method": quoted(e.method),
                "params": e.params,
                "doc": doc_lines(texts[e.method] or _plainly(e), e.pointer, 4),
            }
            for e in module.envelopes
        ],
        "routings": [
            {
                "name": r.name,
                "line": _routing_line(r.envelopes, responses=r.responses),
                "doc": doc_lines(docs.of_class(r.name, r.pointer), r.pointer, 0),
            }
            for r in module.routings
        ],
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
        "uses": uses,
        "exports": sorted([*frame, *(e.name for e in module.envelopes), *(r.name for r in module.routings)]),
    }


def _plainly(envelope: Envelope) -> str:
    return f"The {'request' if envelope.is_request else 'notification'} `{envelope.method}`."


def _members(module: Module, side: str, texts: dict[str, str | None]) -> list[dict[str, Any]]:
    found = [m for m in module.methods if side in m.handled_by and not m.name.startswith("$/")]
    return [
        {"name": member_name(m.key), "value": quoted(m.name), "doc": plain_doc(texts[m.name], 4)}
        for m in sorted(found, key=lambda m: m.key)
    ]


def _routing_line(envelopes: tuple[str, ...], *, responses: bool) -> str:
    if responses and envelopes:
        return f"Fallback[{' | '.join(envelopes)}, Response | ErrorResponse]"
    return "Untagged[Response | ErrorResponse]" if responses else f"Closed[{' | '.join(envelopes)}]"
