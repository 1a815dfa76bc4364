"""The imports of an emitted module."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from generator.names import helper

IMPORTS: dict[str, tuple[str, ...]] = {
    "builtins": ("builtins",),
    "collections.abc": ("Callable", "Mapping"),
    "enum": ("IntEnum", "StrEnum"),
    "types": ("MappingProxyType",),
    "typing": ("Annotated", "Any", "ClassVar", "Generic", "Literal", "NewType", "Self", "TypeAlias", "overload"),
    "msgspec": ("UNSET", "DecodeError", "Meta", "Raw", "UnsetType", "field"),
    ".._types.enums": ("OpenInt32Enum", "OpenStrEnum"),
    ".._rpc.envelopes": ("Envelope", "ExtensionMethod", "ResultT"),
    ".._rpc.errors": ("MethodNotFound", "RequestError"),
    ".._types.hooks": ("Absent",),
    ".._rpc.schema": ("Layer", "extension_method", "raw_json"),
    ".._types.inputs": ("Buffer", "Unknown"),
    ".._types.leniency": ("Advice", "Base64", "DateTime", "NullOrDefault", "OrDefault", "Regex", "SkipInvalid", "Uri"),
    ".._rpc.methods": ("Method",),
    ".._types.numbers": ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    ".._decode.report": ("OnSkip",),
    ".._rpc.decoder": ("MethodOf", "Reader"),
    ".._types.structs": ("AcpStruct", "always", "always_new"),
    ".._types.unions": ("Closed", "Fallback", "Open", "OpenFallback", "Routed", "Tagged", "Untagged"),
    ".._types.variants": ("CatchAll",),
    "..aio._connection": ("Connection",),
    "..aio._services.files": ("Files",),
    "..aio._engine.endpoint": ("AgentTurn", "ClientTurn", "Endpoint", "Need"),
    "..aio._engine.protocol_version": ("UnsupportedVersion",),
    "..aio._session.handshake": ("Handshake", "default_info", "derived_capabilities", "negotiated_version"),
    "..aio._services.permissions": ("Permissions", "choose"),
    "..aio._session.handler_table": ("UnknownMethods", "is_overridden"),
    "..aio._services.terminals": ("Terminals",),
}
"""Where the names that emitted code uses come from."""


HELPERS = frozenset(name for names in IMPORTS.values() for name in names)


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement."""

    module: str
    names: tuple[str, ...]


def imports(
    uses: set[str], local: Mapping[str, Mapping[str, str]] | None = None, hidden: Collection[str] = ()
) -> list[list[Import]]:
    """Group the imports as is usual: the standard library, msgspec, the package itself.

    `local` has the modules of the same schema, each with its names and how they are spelt where they are imported.
    Names from elsewhere that are `hidden` are imported under the name that `helper` gives.
    """
    table: dict[str, Mapping[str, str]] = {m: {n: helper(n, hidden) for n in names} for m, names in IMPORTS.items()}
    groups: dict[int, list[Import]] = {0: [], 1: [], 2: []}
    for module, names in sorted({**table, **(local or {})}.items(), key=_module_key):
        used = sorted((name for name, spelt in names.items() if spelt in uses), key=import_key)
        if used:
            group = 2 if module.startswith(".") else 1 if module == "msgspec" else 0
            spelt = tuple(name if names[name] == name else f"{name} as {names[name]}" for name in used)
            groups[group].append(Import(module, spelt))
    return [group for group in groups.values() if group]


def _module_key(entry: tuple[str, object]) -> tuple[int, str]:
    """Sort modules as isort does: those of outer packages first."""
    name = entry[0]
    return len(name.lstrip(".")) - len(name), name


def import_key(name: str) -> tuple[int, str, str]:
    """Sort names of an import as isort does: constants, classes, functions, each regardless of case."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower(), name)
