"""All Python names: every one is made of the schema's own keys, and two that meet are an error."""

import builtins
import importlib.util
import keyword
from collections.abc import Callable
from typing import cast

from generator.engine import camel, field_name, member_name
from generator.errors import GeneratorError
from generator.source import ROOT

RESERVED_FIELDS = frozenset({"extra", "untagged_"})
"""Fields that the package's own base classes have."""

IMPORTED = frozenset(
    {
        "UNSET", "AcpStruct", "Advice", "Annotated", "Any", "Base64", "CatchAll", "ClassVar", "Closed", "DateTime",
        "Fallback", "Int8", "Int16", "Int32", "Int64", "Literal", "NewType", "NullOrDefault", "Open", "OpenFallback",
        "OpenInt32Enum", "OpenStrEnum", "OrDefault", "Regex", "Self", "SkipInvalid", "StrEnum", "TypeAlias", "UInt8",
        "UInt16", "UInt32", "UInt64", "UnsetType", "Untagged", "Uri", "always", "always_new", "annotations",
        "builtins", "enums", "field", "messages", "types",
    }
)  # fmt: skip
"""Names that an emitted module brings in; no definition may bear one."""

MESSAGE_NAMES = frozenset(
    {
        "Absent", "AgentMethod", "Buffer", "ClientMethod", "Envelope", "ErrorResponse", "ExtensionMethod",
        "ExtensionNotification", "ExtensionRequest", "Layer", "Mapping", "MappingProxyType", "MessageFromAgent",
        "MessageFromClient", "Method", "MethodOf", "METHODS", "Notification", "OnSkip", "Raw", "Reader", "Request",
        "RequestError", "Response", "Result", "Routed", "Tagged", "Unknown",
    }
)  # fmt: skip
"""Names of the message layer, the same in every module."""

CONNECTION_NAMES = frozenset(
    {
        "call", "cancels_turns", "capabilities", "close", "closed", "connection_closed", "extension_call",
        "extension_notification", "extension_notify", "extension_request", "files", "handler", "handshake", "info",
        "negotiate", "notify", "permissions", "serve", "side", "start", "supports", "terminals", "transport",
        "wait_closed",
    }
)  # fmt: skip
"""Names that the ends of a connection and their handlers have before any method of a schema."""


def _load_wire_name() -> Callable[[str], str]:
    # The rule belongs to the package, which applies it to each class; loading that one file keeps it in one place.
    spec = importlib.util.spec_from_file_location("_acp_wire", ROOT / "runtime" / "_wire.py")
    if spec is None or spec.loader is None:
        raise GeneratorError("cannot be loaded", file="runtime/_wire.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Callable[[str], str]", module.wire_name)


wire_name = _load_wire_name()


class Names:
    """The names of one emitted module, each with the place that claimed it."""

    def __init__(self, file: str) -> None:
        """Start with the names that are taken before the schema says anything."""
        self.file = file
        self._claims: dict[str, str] = {}

    def claim(self, name: str, pointer: str) -> str:
        """Take a class or alias name for the place `pointer`."""
        if not name.isidentifier() or keyword.iskeyword(name) or hasattr(builtins, name) or name.startswith("_"):
            raise GeneratorError(
                f"{name!r} cannot be a class name",
                file=self.file,
                pointer=pointer,
                hint="the keys of $defs become class names",
            )
        if name in IMPORTED or name in MESSAGE_NAMES:
            raise GeneratorError(
                f"the name {name} is taken by the package itself",
                file=self.file,
                pointer=pointer,
                hint="see names.py for the reserved names",
            )
        if name in self._claims:
            raise GeneratorError(
                f"two places want the Python name {name}: {self._claims[name]} and {pointer}",
                file=self.file,
                pointer=pointer,
                hint="names come from the schema's keys; one of the two must change",
            )
        self._claims[name] = pointer
        return name


def variant_name(union: str, *steps: str) -> str:
    """Name a variant: its union and then the tag or title of each branch on the way to it."""
    return union + "".join(camel(step) for step in steps)


def envelope_name(params: str) -> str:
    """Name the envelope that carries a params type."""
    return f"{params}Message"


def field_of(key: str) -> str:
    """Name the field of a JSON key."""
    name = field_name(key)
    return f"{name}_" if name in RESERVED_FIELDS else name


def fields_of(keys: list[str], file: str, pointer: str) -> dict[str, str]:
    """Name the fields of one object; two keys that want one name are an error."""
    out: dict[str, str] = {}
    for key in keys:
        name = field_of(key)
        if name in out.values():
            other = next(k for k, n in out.items() if n == name)
            raise GeneratorError(
                f"the properties {other!r} and {key!r} both want the Python name {name}", file=file, pointer=pointer
            )
        out[key] = name
    return out


def member_of(value: str | int, title: str | None) -> str:
    """Name a member of an enumeration; numbers go by their titles."""
    if isinstance(value, str):
        return member_name(value)
    return member_name(title) if title else f"CODE_{'MINUS_' if value < 0 else ''}{abs(value)}"


def method_names(methods: list[tuple[str, bool, bool]], file: str) -> dict[tuple[str, bool], str]:
    """Name the coroutines of the methods that one side handles, by key and whether they are requests.

    A method is its key, and whether there is a request and a notification of it; where both are, the notification's
    name says so.
    """
    out: dict[tuple[str, bool], str] = {}
    for key, has_request, has_notification in methods:
        name = field_name(key)
        wanted = {(key, True): name} if has_request else {}
        if has_notification:
            wanted[key, False] = f"{name}_notification" if has_request else name
        for made in wanted.values():
            if made in CONNECTION_NAMES or made in out.values():
                raise GeneratorError(
                    f"the method {key!r} cannot have the Python name {made}, which is taken",
                    file=file,
                    hint="see CONNECTION_NAMES in names.py",
                )
        out |= wanted
    return out
