"""Emission: views into templates, templates into formatted text. Nothing is written to disk here."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generator.docs import Docs
from generator.emit.check import check_module
from generator.emit.ends import END_NAMES, FIXED, ends_view, has_ends
from generator.emit.imports import HELPERS, Import, import_key, imports
from generator.emit.messages import messages_view
from generator.emit.order import has_forward_references, ordered
from generator.emit.respell import respelt, spellings
from generator.emit.text import quoted
from generator.emit.views import Viewer
from generator.engine import format_code
from generator.errors import GeneratorError
from generator.model import Definition, Enumeration, Identifier, Module
from generator.names import coroutines_of, taken, words_of
from generator.source import ROOT, Lock, Source
from generator.templates import environment

PACKAGE = "acp_msgspec"
STABLE = "v1"
"""The schema whose ends `acp_msgspec.aio` has itself."""
MODULES = ("aio", "enums", "messages", "types")
"""The modules of a schema, which are attributes of its package."""
_RUNTIME_SUFFIXES = (".py", ".css", ".js")
"""What `runtime/` consists of; anything else there is not part of the package."""


def emit_module(module: Module, source: Source, docs: Docs, renamed: Mapping[str, str] | None = None) -> dict[str, str]:
    """Write the files of one schema: a path in the package and its text for each.

    `renamed` are names of former releases that live on, and what they are called now. Raises `GeneratorError` where a
    definition has a name that the message layer makes public in every module.
    """
    # Where the file lies on somebody's disk is no business of the output.
    shown = source.file if source.pinned else Path(source.file).name
    common: dict[str, Any] = {
        "label": module.label,
        "source": source,
        "input": shown if shown.isprintable() else quoted(shown),
    }
    messages, texts = _messages(module, docs, common)
    _refuse_names(module, source, messages["exports"])
    files = {**_types(module, source, docs, common), "messages": messages["text"]}
    files["__init__"] = _init(module, messages["exports"], renamed or {}, common)
    if has_ends(module):
        files["aio"] = _aio(module, texts, source, common)
    made = {f"{PACKAGE}/{module.label}/{n}.py": format_code(text, ROOT) for n, text in files.items()}
    for path, text in made.items():
        check_module(path, text, source.file)
    return made


def _names_of(module: Module) -> tuple[set[str], set[str]]:
    """Give the names of the definitions in `enums`, and of those in `types`."""
    leaves = {d.name for d in module.definitions if isinstance(d, Enumeration | Identifier)}
    return leaves, {d.name for d in module.definitions} - leaves


def _types(module: Module, source: Source, docs: Docs, common: dict[str, Any]) -> dict[str, str]:
    leaves = tuple(d for d in module.definitions if isinstance(d, Enumeration | Identifier))
    bodies = tuple(d for d in module.definitions if not isinstance(d, Enumeration | Identifier))
    leaf_names, _ = _names_of(module)
    enums, types = Viewer(docs, module.definitions), Viewer(docs, module.definitions)
    enum_views = [enums.view(d) for d in sorted(leaves, key=lambda d: d.name)]
    in_order = ordered(bodies, source.file)
    type_views = [types.view(d) for d in in_order]
    return {
        "enums": environment()
        .get_template("enums.py.jinja")
        .render(**common, views=enum_views, imports=imports(enums.writer.uses, hidden=enums.writer.hidden)),
        "types": environment()
        .get_template("types.py.jinja")
        .render(
            **common,
            views=type_views,
            forward=has_forward_references(in_order),
            imports=imports(types.writer.uses, {".enums": {n: n for n in leaf_names}}, types.writer.hidden),
        ),
    }


def _messages(module: Module, docs: Docs, common: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str | None]]:
    """Write the message layer; its exports and the texts of the methods are needed elsewhere, too."""
    leaf_names, body_names = _names_of(module)
    spelling = spellings(module, words_of("messages.py.jinja") | HELPERS)
    view = messages_view(respelt(module, spelling), docs)
    local = {".enums": {n: spelling[n] for n in leaf_names}, ".types": {n: spelling[n] for n in body_names}}
    text = (
        environment().get_template("messages.py.jinja").render(**common, **view, imports=imports(view["uses"], local))
    )
    return {"text": text, "exports": view["exports"]}, view["texts"]


def _aio(module: Module, texts: dict[str, str | None], source: Source, common: dict[str, Any]) -> str:
    leaf_names, body_names = _names_of(module)
    own = words_of("aio.py.jinja") | words_of("aio_serving.jinja") | HELPERS | END_NAMES
    own |= {name for m in module.methods for name in coroutines_of(m.key)}
    spelling = spellings(module, own)
    ends = ends_view(respelt(module, spelling), texts, source.file)
    local: dict[str, dict[str, str]] = {
        ".enums": {n: spelling[n] for n in leaf_names},
        ".messages": {n: n for n in (*FIXED, "notification", *(e.name for e in module.envelopes))},
        ".types": {n: spelling[n] for n in body_names},
    }
    return environment().get_template("aio.py.jinja").render(**common, **ends, imports=imports(ends["uses"], local))


def _init(module: Module, exports: list[str], renamed: Mapping[str, str], common: dict[str, Any]) -> str:
    leaf_names, body_names = _names_of(module)
    modules = {".enums": leaf_names, ".messages": set(exports), ".types": body_names}
    own = [
        *([Import(".._deprecated", ("give_renamed as _give_renamed",))] if renamed else []),
        Import(".._rpc.methods", ("Method",)),
        *(Import(m, tuple(sorted(names, key=import_key))) for m, names in modules.items() if names),
    ]
    return (
        environment()
        .get_template("module.py.jinja")
        .render(
            **common,
            renamed=sorted(renamed.items()),
            imports=[own],
            exports=sorted([*leaf_names, *body_names, *exports, "Method"], key=lambda n: (not n.isupper(), n)),
        )
    )


def _refuse_names(module: Module, source: Source, exports: list[str]) -> None:
    for definition in module.definitions:
        if definition.name in {*exports, "Method", *MODULES}:
            raise taken(definition.name, source.file, definition.pointer)
        keys = [(f.wire, f.pointer) for f in getattr(definition, "fields", ())]
        tag = getattr(definition, "tag", None)
        for key, pointer in [*keys, *([(tag.field, definition.pointer)] if tag is not None else [])]:
            if any(c in '"\\' or c < " " for c in key):
                raise GeneratorError(
                    f"the key {key!r} has a quotation mark, a backslash or a control character",
                    file=source.file,
                    pointer=pointer,
                    hint="msgspec reads no such keys",
                )


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
