"""Rendering of one module: the template is filled in, and imports what the text turns out to use."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.emit.check import check_module, parsed
from generator.emit.imports import imports_of, used_names
from generator.emit.text import quoted
from generator.engine import format_code
from generator.model import Enumeration, Identifier, Module
from generator.names import helper
from generator.source import ROOT, Source
from generator.templates import environment

PACKAGE = "acp_msgspec"


@dataclass(frozen=True, slots=True)
class HeaderView:
    """The source of a module, for the comment at its head."""

    label: str
    input: str
    sha256: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class Rendering:
    """Renders the modules of one schema."""

    module: Module
    source: Source

    @property
    def enums(self) -> frozenset[str]:
        """The definitions that `enums` has: enumerations and ids."""
        return frozenset(d.name for d in self.module.definitions if isinstance(d, Enumeration | Identifier))

    @property
    def types(self) -> frozenset[str]:
        """The definitions that `types` has: all others."""
        return frozenset(d.name for d in self.module.definitions) - self.enums

    def spellings(self, own: Collection[str]) -> dict[str, str]:
        """Spell each definition for a module that has the names `own`: a definition of such a name becomes `_Name`."""
        return {d.name: helper(d.name, own) for d in self.module.definitions}

    def render(
        self,
        name: str,
        view: Any,
        siblings: Mapping[str, Mapping[str, str]] | None = None,
        hidden: Collection[str] = (),
    ) -> dict[str, str]:
        """Render the module `name` with its own template; return its path in the package and its text.

        `siblings` and `hidden` are as for `imports_of`. Raises `GeneratorError` for a text that is not a sound module.
        """
        path = f"{PACKAGE}/{self.module.label}/{name}.py"
        template = environment().get_template(f"{name.replace('__init__', 'module')}.py.jinja")
        header = self._header()
        body = template.render(header=header, view=view, imports=[])
        used = used_names(parsed(path, body, self.source.file))
        imports = imports_of(used, siblings or {}, hidden)
        text = format_code(template.render(header=header, view=view, imports=imports), ROOT)
        check_module(path, text, self.source.file)
        return {path: text}

    def _header(self) -> HeaderView:
        # The folder of a file that is not pinned depends on the machine, so the header leaves it out.
        shown = self.source.file if self.source.pinned else Path(self.source.file).name
        return HeaderView(
            label=self.module.label,
            input=shown if shown.isprintable() else quoted(shown),
            sha256=self.source.sha256,
            commit=self.source.commit,
        )
