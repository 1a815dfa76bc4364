"""The available schemas, and the choice between them."""

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

import msgspec
from msgspec import Struct

from ..._rpc.decoder import MessageDecoder
from ..._rpc.envelopes import Envelope
from ..._rpc.methods import Method
from ..._rpc.schema import MessageSchema
from ..package import RELEASES
from .direction import Side

ENDS = frozenset(("agent", "client"))
LABELS: tuple[str, ...] = tuple(RELEASES)


class Schema(Struct, frozen=True):
    """The parts of a schema module that the inspector needs."""

    label: str
    methods: Mapping[str, Method]
    decoders: dict[Side, Callable[..., Any]]
    """The decoding function for the messages of each sender."""
    decode_between: Callable[..., Any]
    """The decoding function for messages of the methods `between`."""
    between: Mapping[str, str | None]
    """The methods that neither end handles, but a component between them, such as a proxy. Each with the method of an
    end that has the same params, if there is one: `initialize` for the handshake with such a component."""


@cache
def schema(label: str) -> Schema:
    """Load the schema module with a label of `LABELS`."""
    module: Any = resolve_name(f"{__name__.removesuffix('.tools.inspect.schemas')}.{label}")
    methods: Mapping[str, Method] = module.METHODS
    decoders: dict[Side, Callable[..., Any]] = {
        "client": module.decode_client_message,
        "agent": module.decode_agent_message,
    }
    between = {name: _twin(method, methods) for name, method in methods.items() if not method.handled_by & ENDS}
    return Schema(label, methods, decoders, _decoder_between(f"{module.__name__}.messages", between), between)


def _decoder_between(name: str, methods: Mapping[str, str | None]) -> Callable[..., Any]:
    """Return a decoding function for methods that no end handles: the module has none for them."""
    module: Any = resolve_name(name)
    names: dict[str, Any] = module.__dict__
    envelopes: list[Any] = [found for found in names.values() if _carries(found, methods)]
    given: MessageSchema = names["_SCHEMA"]
    own = msgspec.structs.replace(given, envelopes=[], carriers={})  # that of the module stays as it is
    decoder: MessageDecoder[Any] = MessageDecoder(own, tuple(envelopes))

    def decode_between(buf: bytes, /, **options: Any) -> Any:
        return decoder.decode(buf, options["method_of"], options["unknown"], options["on_skip"])

    return decode_between


def _carries(found: Any, methods: Mapping[str, str | None]) -> bool:
    """Return whether something is an envelope of one of the methods."""
    if not (isinstance(found, type) and issubclass(found, Envelope)):
        return False
    tag: Any = found.__struct_config__.tag
    return tag in methods


def _twin(method: Method, methods: Mapping[str, Method]) -> str | None:
    """Return the method of an end whose requests have the same params."""
    found = (m.name for m in methods.values() if m.handled_by & ENDS and m.request is method.request is not None)
    return next(found, None)


def label_for(version: int) -> str:
    """Return the label for a protocol version: the unstable schema, since it contains the stable one.

    If a vendored copy lacks that version, the nearest one is used.
    """
    number = 2 if version >= 2 else 1
    wanted = (f"v{number}_unstable", f"v{number}", "v1_unstable", "v1")
    return next((label for label in wanted if label in LABELS), LABELS[0])
