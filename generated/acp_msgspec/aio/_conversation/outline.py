"""What a conversation knows of its schema: plain data, emitted for each schema whose turns a client can follow."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from .._engine.endpoint import ClientTurn, Endpoint


class Outline(Struct, frozen=True, kw_only=True):
    """The methods and classes that a conversation uses; a method that the schema lacks is empty."""

    side: Endpoint
    """The client's end of a connection."""
    update: str
    """The coroutine that handles session updates."""
    new: str
    """The method that starts a session."""
    text_block: Callable[..., Any]
    """The class of text blocks."""
    link_block: Callable[..., Any] | None
    """The class of blocks that name a resource by its address, which every agent takes; None if there is none."""
    load: str = ""
    """The method that opens an earlier session and sends all of its conversation again."""
    resume: str = ""
    """The method that opens an earlier session."""
    replay: Callable[[], Any] | None = None
    """Asks the method `resume` for the whole conversation, if it sends none unless asked."""
    login: str = ""
    """The method that signs in by one of the agent's ways."""

    @property
    def turn(self) -> ClientTurn:
        """How turns end; a schema without turns has no outline."""
        if not isinstance(self.side.turn, ClientTurn):
            raise TypeError("The schema has no turns")
        return self.side.turn

    def params_of(self, method: str, /, **fields: Any) -> Any:
        """Build the params of a request, from those of the fields that it has."""
        kind: Any = self.side.methods[method].request
        return kind(**{name: value for name, value in fields.items() if name in kind.__struct_fields__})

    def reopening_params(self, method: str, session_id: str, params: Mapping[str, Any]) -> Any:
        """Build the params that open an earlier session, with all of its conversation if that takes asking."""
        more = {"replay_from": self.replay()} if method == self.resume and self.replay is not None else {}
        return self.params_of(method, session_id=session_id, **params, **more)
