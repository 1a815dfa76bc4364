"""Emission: views into templates, templates into formatted text. Nothing is written to disk here."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.docs import Docs
from generator.emit.ends import FIXED, ends_view, has_ends
from generator.emit.messages import messages_view
from generator.emit.order import has_forward_references, ordered
from generator.emit.text import quoted
from generator.emit.views import Viewer
from generator.engine import format_code
from generator.model import Definition, Enumeration, Identifier, Module
from generator.source import ROOT, Lock, Source
from generator.templates import environment

PACKAGE = "acp_msgspec"
STABLE = "v1"
"""The schema whose ends `acp_msgspec.aio` has itself."""
_RUNTIME_SUFFIXES = (".py", ".css", ".js")
"""What `runtime/` consists of; anything else there is not part of the package."""

IMPORTS: dict[str, tuple[str, ...]] = {
    "builtins": ("builtins",),
    "collections.abc": ("Callable", "Mapping"),
    "enum": ("IntEnum", "StrEnum"),
    "types": ("MappingProxyType",),
    "typing": ("Annotated", "Any", "ClassVar", "Generic", "Literal", "NewType", "Self", "TypeAlias", "overload"),
    "msgspec": ("UNSET", "DecodeError", "Meta", "Raw", "UnsetType", "field"),
    ".._enums": ("OpenInt32Enum", "OpenStrEnum"),
    ".._envelopes": ("Envelope", "ExtensionMethod", "ResultT"),
    ".._errors": ("MethodNotFound", "RequestError"),
    ".._hooks": ("Absent",),
    ".._layer": ("Buffer", "Layer", "Unknown", "extension_method", "raw_json"),
    ".._marks": ("Advice", "Base64", "DateTime", "NullOrDefault", "OrDefault", "Regex", "SkipInvalid", "Uri"),
    ".._methods": ("Method",),
    ".._numbers": ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    ".._observe": ("OnSkip",),
    ".._reader": ("MethodOf", "Reader"),
    ".._structs": ("AcpStruct", "always", "always_new"),
    ".._unions": ("Closed", "Fallback", "Open", "OpenFallback", "Routed", "Tagged", "Untagged"),
    ".._variants": ("CatchAll",),
    "..aio._connection": ("Connection",),
    "..aio._files": ("Files",),
    "..aio._handshake": (
        "Handshake",
        "Need",
        "UnsupportedVersion",
        "described",
        "is_overridden",
        "offered",
        "settled",
    ),
    "..aio._permissions": ("Permissions", "choose"),
    "..aio._side": ("Side", "UnknownMethods"),
    "..aio._terminals": ("Terminals",),
    "..aio._turns": ("AgentTurn", "ClientTurn"),
}
"""Where the names that emitted code uses come from."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement."""

    module: str
    names: tuple[str, ...]


def _imports(uses: set[str], local: dict[str, set[str]] | None = None) -> list[list[Import]]:
    """Group the imports as is usual: the standard library, msgspec, the package itself."""
    table = {**{m: set(names) for m, names in IMPORTS.items()}, **(local or {})}
    groups: dict[int, list[Import]] = {0: [], 1: [], 2: []}
    for module, names in table.items():
        if uses & names:
            group = 2 if module.startswith(".") else 1 if module == "msgspec" else 0
            groups[group].append(Import(module, tuple(sorted(uses & names, key=_import_key))))
    return [group for group in groups.values() if group]


def _import_key(name: str) -> tuple[int, str, str]:
    """Sort names of an import as isort does: constants, classes, functions, each regardless of case."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower(), name)


def emit_module(module: Module, source: Source, docs: Docs, renamed: Mapping[str, str] | None = None) -> dict[str, str]:
    """Write the files of one schema: a path in the package and its text for each.

    `renamed` are names of former releases that live on, and what they are called now.
    """
    templates = environment()
    leaves = tuple(d for d in module.definitions if isinstance(d, Enumeration | Identifier))
    bodies = tuple(d for d in module.definitions if not isinstance(d, Enumeration | Identifier))
    leaf_names, body_names = {d.name for d in leaves}, {d.name for d in bodies}
    enums, types = Viewer(docs), Viewer(docs)
    enum_views = [enums.view(d) for d in sorted(leaves, key=lambda d: d.name)]
    in_order = ordered(bodies, source.file)
    type_views = [types.view(d) for d in in_order]
    # Names in default expressions (`always(ElicitationSchemaType.OBJECT)`) count as used, too.
    for definition in bodies:
        for entry in getattr(definition, "fields", ()):
            if entry.default is not None and entry.default.expression.partition(".")[0] in leaf_names:
                types.writer.use(entry.default.expression.partition(".")[0])
    messages = messages_view(module, docs)
    # Where the file lies on somebody's disk is no business of the output.
    shown = source.file if source.pinned else Path(source.file).name
    common: dict[str, Any] = {"label": module.label, "source": source, "input": shown}
    files = {
        "enums": templates.get_template("enums.py.jinja").render(
            **common, views=enum_views, imports=_imports(enums.writer.uses)
        ),
        "types": templates.get_template("types.py.jinja").render(
            **common,
            views=type_views,
            forward=has_forward_references(in_order),
            imports=_imports(types.writer.uses, {".enums": leaf_names}),
        ),
        "messages": templates.get_template("messages.py.jinja").render(
            **common, **messages, imports=_imports(messages["uses"], {".enums": leaf_names, ".types": body_names})
        ),
        "__init__": templates.get_template("module.py.jinja").render(
            **common,
            renamed=sorted((renamed or {}).items()),
            imports=[
                *([[Import("typing", ("TYPE_CHECKING", "Any"))]] if renamed else []),
                [
                    *([Import(".._deprecated", ("give_renamed",))] if renamed else []),
                    Import(".._methods", ("Method",)),
                    *([Import(".enums", tuple(sorted(leaf_names, key=_import_key)))] if leaf_names else []),
                    Import(".messages", tuple(sorted(messages["exports"], key=_import_key))),
                    *([Import(".types", tuple(sorted(body_names, key=_import_key)))] if body_names else []),
                ],
            ],
            exports=sorted(
                [*leaf_names, *body_names, *messages["exports"], "Method"], key=lambda n: (not n.isupper(), n)
            ),
        ),
    }
    if has_ends(module):
        ends = ends_view(module, messages["texts"], source.file)
        local: dict[str, set[str]] = {
            ".enums": leaf_names,
            ".messages": {*FIXED, "notification", *(e.name for e in module.envelopes)},
            ".types": body_names,
        }
        files["aio"] = templates.get_template("aio.py.jinja").render(
            **common, **ends, imports=_imports(ends["uses"], local)
        )
    return {f"{PACKAGE}/{module.label}/{n}.py": format_code(text, ROOT) for n, text in files.items()}


def emit_definition(definition: Definition, docs: Docs) -> str:
    """Write one definition alone, for somebody to look at."""
    view = Viewer(docs).view(definition)
    return format_code(environment().get_template("explain.py.jinja").render(view=view), ROOT)


def emit_package(lock: Lock | None, labels: list[str]) -> dict[str, str]:
    """Write the files that belong to the package as a whole."""
    templates = environment()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    about = templates.get_template("about.py.jinja").render(
        version=quoted(version),
        commit=quoted(lock.commit if lock else ""),
        repository=lock.repository if lock else "",
        versions={quoted(label): quoted(lock.release) for label in labels} if lock else {},
    )
    package = templates.get_template("package.py.jinja").render()
    aio = templates.get_template("aio_package.py.jinja").render(has_stable=STABLE in labels, stable=STABLE)
    return {
        f"{PACKAGE}/_about.py": format_code(about, ROOT),
        f"{PACKAGE}/__init__.py": format_code(package, ROOT),
        f"{PACKAGE}/aio/__init__.py": format_code(aio, ROOT),
    }


def runtime_files(root: Path = ROOT) -> dict[str, str]:
    """Take the hand-written part of the package as it is."""
    folder = root / "runtime"
    found = sorted(path for path in folder.rglob("*") if path.suffix in _RUNTIME_SUFFIXES)
    files = {f"{PACKAGE}/{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8") for path in found}
    licence = (root / "LICENSE").read_text(encoding="utf-8")  # vendored copies carry it along
    return {**files, f"{PACKAGE}/py.typed": "", f"{PACKAGE}/LICENSE": licence}


__all__ = ["PACKAGE", "emit_definition", "emit_module", "emit_package", "runtime_files"]
