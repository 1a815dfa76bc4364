"""Writes `conversation.py`: agents to connect to and their sessions, with the types of the schema."""

from dataclasses import dataclass

from generator.emit.imports import HELPERS
from generator.emit.rendering import Rendering
from generator.emit.text import quoted
from generator.model import Constrained, Conversation, Features, Field, ListOf, Named
from generator.names import words_of

CLASSES = ("Client", "ClientConnection")
"""The classes of `aio` that a conversation uses."""


@dataclass(frozen=True, slots=True)
class ConversationView:
    """The whole module; all methods are quoted."""

    update: str
    new: str
    load: str | None
    resume: str | None
    replay: str | None
    block: str
    text: str
    link: str | None
    stop_reason: str
    permission: str
    mcp_server: str | None
    optional: frozenset[str]
    login: str | None
    auth_method: str


def write_conversation(rendering: Rendering, features: Features, found: Conversation) -> dict[str, str]:
    """Write the conversations of a schema."""
    permissions, turn = features.permissions, features.agent_turn
    options = {field.name: _item(field) for field in found.options}
    server = options.get("mcp_servers")
    spelling = rendering.spellings(words_of("conversation.py.jinja") | HELPERS | {*CLASSES})
    siblings = {
        ".aio": {n: n for n in CLASSES},
        ".enums": {n: spelling[n] for n in rendering.enums},
        ".types": {n: spelling[n] for n in rendering.types},
    }
    view = ConversationView(
        update=quoted(found.update.name),
        new=quoted(found.new.method),
        load=quoted(found.load.method) if found.load else None,
        resume=quoted(found.resume.method) if found.resume else None,
        replay=spelling[found.replay] if found.replay else None,
        block=spelling[found.block],
        text=spelling[found.text],
        link=spelling[found.link] if found.link else None,
        stop_reason=spelling[turn.stop_reason_type] if turn else "str",
        permission=spelling[permissions.ask.params] if permissions else "Any",
        mcp_server=spelling[server] if server else None,
        optional=frozenset(options),
        login=quoted(found.login.method) if found.login and found.auth_method else None,
        auth_method=spelling[found.auth_method] if found.auth_method else "",
    )
    return rendering.render("conversation", view, siblings)


def _item(field: Field) -> str | None:
    """Return the definition of the items of a list."""
    kind = field.kind.inner if isinstance(field.kind, Constrained) else field.kind
    return kind.item.name if isinstance(kind, ListOf) and isinstance(kind.item, Named) else None
