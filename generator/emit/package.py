"""Writes the files around the modules: the `__init__` of each schema, and those of the package as a whole."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.emit.imports import Import, import_key
from generator.emit.rendering import PACKAGE, Rendering
from generator.emit.text import quoted
from generator.engine import format_code
from generator.source import ROOT, Lock
from generator.templates import environment

STABLE = "v1"
"""The schema whose endpoints `acp_msgspec.aio` exports itself."""
_RUNTIME_SUFFIXES = (".py", ".css", ".js")
"""What `runtime/` consists of; anything else there is not part of the package."""


@dataclass(frozen=True, slots=True)
class InitView:
    """The `__init__` of a schema: `renamed` has the names of former releases and what they are called now.

    `lazy` are the builders, which are loaded when one of them is first used.
    """

    imports: tuple[Import, ...]
    exports: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    lazy: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AboutView:
    """Where the package comes from; all texts are quoted but the repository's."""

    version: str
    commit: str
    repository: str
    releases: tuple[tuple[str, str], ...]


def write_init(
    rendering: Rendering, messages: list[str], builders: list[str], renamed: Mapping[str, str]
) -> dict[str, str]:
    """Write the `__init__` of a schema; `messages` and `builders` are the public names of these modules."""
    modules = {".enums": rendering.enums, ".messages": messages, ".types": rendering.types}
    imports = [
        *([Import(".._deprecated", ("resolve_renamed as _resolve_renamed",))] if renamed else []),
        *([Import(".._lazy", ("load_name as _load_name",))] if builders else []),
        Import(".._rpc.methods", ("Method",)),
        *(Import(m, tuple(sorted(names, key=import_key))) for m, names in modules.items() if names),
    ]
    exports = [*rendering.enums, *rendering.types, *messages, *builders, "Method"]
    view = InitView(
        imports=tuple(imports),
        exports=tuple(sorted(exports, key=lambda n: (not n.isupper(), n))),
        renamed=tuple(sorted(renamed.items())),
        lazy=tuple(builders),
    )
    return rendering.render("__init__", view)


def emit_package(lock: Lock | None, labels: list[str]) -> dict[str, str]:
    """Write the files that belong to the package as a whole."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    about = AboutView(
        version=quoted(version),
        commit=quoted(lock.commit if lock else ""),
        repository=lock.repository if lock else "",
        releases=tuple((quoted(label), quoted(lock.release)) for label in labels) if lock else (),
    )
    stable = STABLE if STABLE in labels else None
    templates = environment()
    texts = {
        "_about": templates.get_template("about.py.jinja").render(view=about),
        "__init__": templates.get_template("package.py.jinja").render(),
        "aio/__init__": templates.get_template("aio_package.py.jinja").render(stable=stable),
    }
    return {f"{PACKAGE}/{name}.py": format_code(text, ROOT) for name, text in texts.items()}


def runtime_files(root: Path = ROOT) -> dict[str, str]:
    """Read the hand-written part of the package, which is copied as it is."""
    folder = root / "runtime"
    found = sorted(path for path in folder.rglob("*") if path.suffix in _RUNTIME_SUFFIXES)
    files = {f"{PACKAGE}/{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8") for path in found}
    licence = (root / "LICENSE").read_text(encoding="utf-8")  # vendored copies carry it along
    return {**files, f"{PACKAGE}/py.typed": "", f"{PACKAGE}/LICENSE": licence}
