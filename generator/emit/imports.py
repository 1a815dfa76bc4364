"""The imports of an emitted module, found by the names that it uses."""

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from generator.names import helper

IMPORTS: dict[str, tuple[str, ...]] = {
    "builtins": ("builtins",),
    "collections.abc": ("Awaitable", "Callable", "Iterable", "Mapping", "Sequence"),
    "enum": ("IntEnum", "StrEnum"),
    "os": ("PathLike",),
    "types": ("MappingProxyType",),
    "typing": (
        "Annotated",
        "Any",
        "ClassVar",
        "Generic",
        "Literal",
        "NewType",
        "Self",
        "TypeAlias",
        "Unpack",
        "overload",
    ),
    "msgspec": ("UNSET", "DecodeError", "Meta", "Raw", "UnsetType", "field"),
    ".._build.addresses": ("checked_absolute",),
    ".._build.files": ("PromptFile", "base64_text", "describe_file", "embed_file", "read_file"),
    ".._build.git_patch": ("git_patch", "operation_of"),
    ".._build.labels": ("option_labels", "progress", "steps_of"),
    ".._types.enums": ("OpenInt32Enum", "OpenStrEnum"),
    ".._rpc.envelopes": ("Envelope", "ExtensionMethod", "ResultT"),
    ".._rpc.errors": ("MethodNotFound", "RequestError"),
    ".._types.hooks": ("Absent", "UInt64"),
    ".._rpc.schema": ("MessageSchema", "extension_method", "raw_json"),
    ".._types.inputs": ("Buffer", "Unknown"),
    ".._types.leniency": (
        "Base64",
        "DateTime",
        "NullOrDefault",
        "OrDefault",
        "Regex",
        "SenderConstraint",
        "SkipInvalid",
        "Uri",
    ),
    ".._types.merging": ("MergedByKey",),
    ".._rpc.methods": ("Method",),
    ".._types.numbers": ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32"),
    ".._decode.report": ("OnSkip",),
    ".._rpc.decoder": ("MessageDecoder", "MethodOf"),
    ".._types.structs": ("AcpStruct", "always", "always_new"),
    ".._types.unions": ("Closed", "Fallback", "FallbackByTag", "Open", "OpenFallback", "Routed", "Tagged", "Untagged"),
    ".._types.variants": ("CatchAll",),
    "..aio._connection": ("Connection",),
    "..aio._conversation.agent": ("ConnectionOptions", "RemoteAgent"),
    "..aio._conversation.changes": ("AnyChange",),
    "..aio._conversation.opening": ("Target",),
    "..aio._conversation.outline": ("Outline",),
    "..aio._conversation.session": ("Session",),
    "..aio._conversation.turn": ("PATIENCE",),
    "..aio._services.files": ("Files",),
    "..aio._engine.endpoint": ("AgentTurn", "ClientTurn", "Endpoint", "Need"),
    "..aio._engine.protocol_version": ("UnsupportedVersion",),
    "..aio._session.handshake": ("Handshake", "default_info", "derived_capabilities", "negotiated_version"),
    "..state": ("Snapshot",),
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


def used_names(tree: ast.Module) -> set[str]:
    """List the names that a module reads, attributes aside."""
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def imports_of(
    used: set[str], siblings: Mapping[str, Mapping[str, str]], hidden: Collection[str] = ()
) -> list[list[Import]]:
    """Import the names that a module uses, in the usual groups: the standard library, msgspec, the package itself.

    `siblings` are the modules of the same schema, each with its names and how they are spelled in the importing module.
    A helper whose name is `hidden` by a name of the schema is spelled as `helper` says.
    """
    table: dict[str, Mapping[str, str]] = {m: {n: helper(n, hidden) for n in names} for m, names in IMPORTS.items()}
    groups: dict[int, list[Import]] = {0: [], 1: [], 2: []}
    for module, names in sorted({**table, **siblings}.items(), key=_module_key):
        wanted = sorted((name for name, spelling in names.items() if spelling in used), key=import_key)
        if wanted:
            group = 2 if module.startswith(".") else 1 if module == "msgspec" else 0
            spelled = tuple(name if names[name] == name else f"{name} as {names[name]}" for name in wanted)
            groups[group].append(Import(module, spelled))
    return [group for group in groups.values() if group]


def _module_key(entry: tuple[str, object]) -> tuple[int, str]:
    """Sort modules as isort does: those of outer packages first."""
    name = entry[0]
    return len(name.lstrip(".")) - len(name), name


def import_key(name: str) -> tuple[int, str, str]:
    """Order the names of an import as isort does: constants, classes, functions, each regardless of case."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower(), name)
