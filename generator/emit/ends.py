"""What the template of the typed ends needs: a coroutine for each method, on the side that calls and on the other."""

from typing import Any

from generator.emit.protocol import Protocol
from generator.emit.text import quoted, value_text
from generator.emit.views import doc_lines
from generator.model import Method, Module, Need
from generator.names import method_names

FIXED = ("ErrorResponse", "ExtensionNotification", "ExtensionRequest", "METHODS", "Response", "decode_agent_batch",
         "decode_agent_message", "decode_client_batch", "decode_client_message")  # fmt: skip
"""What is always imported from the message layer."""
ALWAYS = frozenset({*FIXED, "Any", "ClassVar", "Connection", "Raw", "Side", "MethodNotFound", "UnknownMethods"})
END_NAMES = frozenset({"Agent", "Client", "AgentConnection", "ClientConnection"})
"""The classes that the template makes of the names of both sides."""
CANCEL = "$/cancel_request"
"""The one method that connections handle themselves."""


def has_ends(module: Module) -> bool:
    """Say whether there is anything to call; the early drafts of a schema have types only."""
    return bool(module.envelopes)


def ends_view(module: Module, texts: dict[str, str | None], file: str) -> dict[str, Any]:
    """Make what the template of the typed ends needs."""
    agent = _handled(module, "agent", texts, file)
    client = _handled(module, "client", texts, file)
    cancel = next((e for e in module.envelopes if e.method == CANCEL), None)
    uses = set(ALWAYS) | {t for m in (*agent, *client) for t in (m["params"], m["returns"]) if t != "None"}
    handlers = [m for m in (*agent, *client) if m["wire"] != CANCEL]
    uses |= {m["envelope"] for m in handlers}
    if any(not e.is_request for e in module.envelopes):
        uses.add("notification")
    if cancel is not None:
        uses |= {cancel.name, str(cancel.params)}
    protocol = Protocol(module)
    view = protocol.view()
    uses |= protocol.uses
    ends = [
        _end("Agent", "Client", "an agent", "a client", agent, client),
        _end("Client", "Agent", "a client", "an agent", client, agent),
    ]
    for end in ends:
        end["needs"] = [_need(n, end["handlers"]) for n in module.needs if n.side == end["name"].lower()]
        end["told"], end["turn"] = view["told"][end["name"]], view["turns"][end["name"]]
    for end, peer in (ends, ends[::-1]):
        end["needs_name"] = f"_{end['name'].upper()}_NEEDS" if end["needs"] else "()"
        end["peer_needs_name"] = f"_{peer['name'].upper()}_NEEDS" if peer["needs"] else "()"
    if module.needs:
        uses.add("Need")
    return {
        **view,
        "ends": ends,
        "version": module.version,
        "cancel": {"envelope": cancel.name, "params": cancel.params} if cancel is not None else None,
        "builds_notifications": any(not e.is_request for e in module.envelopes),
        "uses": uses,
    }


def _end(
    own: str, peer: str, a_own: str, a_peer: str, handled: list[dict[str, Any]], called: list[dict[str, Any]]
) -> dict[str, Any]:
    handlers = [m for m in handled if m["wire"] != CANCEL]
    return {
        "name": own,
        "peer": peer,
        "a_name": a_own,
        "a_peer": a_peer,
        "decodes": peer.lower(),
        "handlers": handlers,
        "requests": [m for m in handlers if m["is_request"]],
        "notifications": [m for m in handlers if not m["is_request"]],
        "calls": called,
    }


def _need(need: Need, handlers: list[dict[str, Any]]) -> str:
    """Write what makes a `Need` of the package."""
    parts = [quoted(need.method), quoted(need.capability)]
    if need.leaf is not None:
        name = next(h["name"] for h in handlers if h["wire"] == need.method)
        parts += [f"name={quoted(name)}", f"leaf={value_text(need.leaf)}"]
    if need.field is not None:
        parts.append(f"field={quoted(need.field)}")
    if need.value is not None:
        parts.append(f"value={quoted(need.value)}")
    if need.group:
        parts.append("group=True")
    return ", ".join(parts)


def _handled(module: Module, side: str, texts: dict[str, str | None], file: str) -> list[dict[str, Any]]:
    methods = [m for m in module.methods if side in m.handled_by]
    names = method_names([(m.key, m.request is not None, m.notification is not None) for m in methods], file)
    envelopes = {(e.method, e.is_request): e.name for e in module.envelopes}
    out: list[dict[str, Any]] = []
    for method in methods:
        doc = _doc(method, texts[method.name])
        for is_request, params in ((True, method.request), (False, method.notification)):
            envelope = envelopes.get((method.name, is_request))
            if params is not None and envelope is not None:
                out.append(
                    {
                        "name": names[method.key, is_request],
                        "wire": method.name,
                        "method": quoted(method.name),
                        "params": params,
                        "returns": (method.response or "Any") if is_request else "None",
                        "is_request": is_request,
                        "envelope": envelope,
                        "doc": doc,
                    }
                )
    return sorted(out, key=lambda m: str(m["name"]))


def _doc(method: Method, text: str | None) -> tuple[str, ...]:
    return doc_lines(f"{text or 'A method without a description.'} [{method.name}]", "", 8)
