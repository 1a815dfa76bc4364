"""The metadata of a session: its title, mode, options, commands and token usage."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET, Struct

from .._patch import apply_patch
from ._blocks import Block
from ._changes import (
    Change,
    CommandsChanged,
    ConfigChanged,
    InfoChanged,
    ModeChanged,
    SuggestionsChanged,
    TitleChanged,
    UsageChanged,
)
from ._views import UsageView


class _SessionInfo(Struct, frozen=True):
    """The fields of `session_info_update`; the names are those of the schemas."""

    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] | None = None


class Metadata:
    """The latest metadata; its history is not kept."""

    __slots__ = ("commands", "config_options", "info", "mode", "modes", "suggestions", "usage")

    def __init__(self) -> None:
        """Start with everything empty."""
        self.commands: tuple[Struct, ...] = ()
        self.config_options: tuple[Block, ...] = ()
        self.info = _SessionInfo()
        self.mode: str | None = None
        self.modes: tuple[Struct, ...] = ()
        self.suggestions: tuple[Struct, ...] = ()
        self.usage: UsageView | None = None

    def set_commands(self, commands: Iterable[Struct]) -> Iterator[Change]:
        """Replace the commands."""
        self.commands = tuple(commands)
        yield CommandsChanged()

    def set_suggestions(self, suggestions: Iterable[Struct]) -> Iterator[Change]:
        """Replace the suggested prompts."""
        self.suggestions = tuple(suggestions)
        yield SuggestionsChanged()

    def set_config(self, options: Iterable[Block]) -> Iterator[Change]:
        """Replace the configuration options."""
        self.config_options = tuple(options)
        yield ConfigChanged()

    def set_mode(self, mode: str, modes: Iterable[Struct] | None = None) -> Iterator[Change]:
        """Change the current mode, and the list of modes if one is given."""
        if mode != self.mode or modes is not None:
            self.mode = mode
            self.modes = self.modes if modes is None else tuple(modes)
            yield ModeChanged(mode=mode)

    def set_usage(self, update: Any) -> Iterator[Change]:
        """Replace the token usage. An update without a cost leaves the cost as it is."""
        cost = getattr(update, "cost", None)
        if cost is UNSET:
            amount, currency = (self.usage.cost, self.usage.currency) if self.usage is not None else (None, None)
        else:
            amount, currency = (None, None) if cost is None else (cost.amount, cost.currency)
        self.usage = UsageView(used=update.used, size=update.size, cost=amount, currency=currency)
        yield UsageChanged()

    def apply_info(self, update: Any) -> Iterator[Change]:
        """Change the title, the time and the `meta` that an update carries."""
        before, self.info = self.info, apply_patch(self.info, update)
        if self.info.title != before.title:
            yield TitleChanged(title=self.info.title)
        if self.info.updated_at != before.updated_at or self.info.meta is not before.meta:
            yield InfoChanged()

    def adopt(self, response: Any) -> Iterator[Change]:
        """Take modes, options and commands from the response that opened the session, or that changed an option."""
        modes = getattr(response, "modes", None)
        if modes is not None:
            yield from self.set_mode(modes.current_mode_id, modes.available_modes)
        options = getattr(response, "config_options", None)
        if options is not None:
            yield from self.set_config(options)
        commands = getattr(response, "available_commands", None)
        if commands:  # an agent that does not tell them here sends an update
            yield from self.set_commands(commands)
