"""Which session a message belongs to, also of messages that came before the id of their session was known."""

from collections import deque
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from ..._rpc.encoding import encode
from .._engine.endpoint import Endpoint, Handler
from .feed import Feed
from .outline import Outline

MAX_EARLY = 1000
"""The most updates that are kept while a session is opened whose id is not known yet; the first ones give way."""
MAX_EARLY_BYTES = 8 * 1024 * 1024
"""The most bytes of them."""


class Router:
    """Hands what the agent sends in a session to the session's feed, and then to the client's own handler."""

    def __init__(self, outline: Outline, side: Endpoint) -> None:
        """Start without sessions."""
        self._feeds: dict[str, Feed] = {}
        self._opening = 0
        self._early: deque[tuple[Any, int]] = deque()
        self._early_bytes = 0
        self._ignores = getattr(side.base, outline.update, None)
        """The handler that does nothing, which every client has unless it overrides it."""
        requests = {name: self._wrap_request(name == outline.turn.permission) for name in side.requests.values()}
        self.wrappers: dict[str, Callable[[Any], Any]] = {**requests, outline.update: self._wrap_update}
        """What to put around the client's handlers, by their names."""

    def add(self, session_id: str, feed: Feed) -> None:
        """Route a session, beginning with the updates that have come for it.

        Raises `ValueError` for a session that is open already.
        """
        if self._feeds.get(session_id, feed) is not feed:
            raise ValueError(f"The session {session_id!r} is open already")
        self._feeds[session_id] = feed
        feed.state.session_id = session_id
        for params, _ in self._early:
            if params.session_id == session_id:
                feed.update(params)

    def remove(self, session_id: str, feed: Feed) -> None:
        """Route a session no longer."""
        if self._feeds.get(session_id) is feed:
            del self._feeds[session_id]

    def opening_began(self) -> None:
        """Keep the updates of unknown sessions: one of them may be the session that is opened."""
        self._opening += 1

    def opening_ended(self) -> None:
        """Forget them once no session is opened any more."""
        self._opening -= 1
        if not self._opening:
            self._early.clear()
            self._early_bytes = 0

    def _keep(self, params: Any) -> None:
        size = len(encode(params))
        self._early.append((params, size))
        self._early_bytes += size
        while len(self._early) > MAX_EARLY or self._early_bytes > MAX_EARLY_BYTES:
            self._early_bytes -= self._early.popleft()[1]

    def _wrap_update(self, handler: Handler | None) -> Handler:
        if getattr(handler, "__func__", None) is self._ignores:
            handler = None

        def session_update(params: Any) -> Awaitable[Any] | None:
            feed = self._feeds.get(params.session_id)
            if feed is not None:
                feed.update(params)
            elif self._opening:
                self._keep(params)
            return handler(params) if handler is not None else None

        return session_update

    def _wrap_request(self, is_permission: bool) -> Callable[[Handler | None], Handler | None]:
        def wrap(handler: Handler | None) -> Handler | None:
            if handler is None:
                return None

            @wraps(handler)
            async def request(params: Any) -> Any:
                feed = self._feeds.get(getattr(params, "session_id", ""))
                if feed is not None:
                    feed.request_started(params, is_permission=is_permission)
                try:
                    awaitable = handler(params)
                    return await awaitable if awaitable is not None else None
                finally:
                    if feed is not None:
                        feed.request_ended()

            return request

        return wrap
