"""The available schemas, and the choice between them."""

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

from msgspec import Struct

from ..._rpc.methods import Method
from ..package import RELEASES
from .direction import Side

LABELS: tuple[str, ...] = tuple(RELEASES)


class Schema(Struct, frozen=True):
    """The parts of a schema module that the inspector needs."""

    label: str
    methods: Mapping[str, Method]
    decoders: dict[Side, Callable[..., Any]]
    """The decoding function for the messages of each sender."""


@cache
def schema(label: str) -> Schema:
    """Load the schema module with a label of `LABELS`."""
    module: Any = resolve_name(f"{__name__.removesuffix('.tools.inspect.schemas')}.{label}")
    return Schema(label, module.METHODS, {"client": module.decode_client_message, "agent": module.decode_agent_message})


def label_for(version: int) -> str:
    """Return the label for a protocol version: the unstable schema, since it contains the stable one.

    If a vendored copy lacks that version, the nearest one is used.
    """
    number = 2 if version >= 2 else 1
    wanted = (f"v{number}_unstable", f"v{number}", "v1_unstable", "v1")
    return next((label for label in wanted if label in LABELS), LABELS[0])
