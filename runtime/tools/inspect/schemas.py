"""The schemas that are here, and which of them a message is read with."""

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

from msgspec import Struct

from ..._rpc.methods import Method
from ..vendor import RELEASES
from .extraction import Side

LABELS: tuple[str, ...] = tuple(RELEASES)


class Schema(Struct, frozen=True):
    """One schema module, as far as reading goes."""

    label: str
    methods: Mapping[str, Method]
    readers: dict[Side, Callable[..., Any]]
    """What reads the messages of each sender."""


@cache
def schema(label: str) -> Schema:
    """Load the module of a label, one of `LABELS`."""
    module: Any = resolve_name(f"{__name__.removesuffix('.tools.inspect.schemas')}.{label}")
    return Schema(label, module.METHODS, {"client": module.decode_client_message, "agent": module.decode_agent_message})


def label_for(version: int) -> str:
    """Choose the label for a protocol version: the unstable one, which knows all that the stable one does and more.

    Where that version is not here, the nearest that is.
    """
    number = 2 if version >= 2 else 1
    wanted = (f"v{number}_unstable", f"v{number}", "v1_unstable", "v1")
    return next((label for label in wanted if label in LABELS), LABELS[0])
