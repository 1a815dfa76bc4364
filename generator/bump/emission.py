"""What emitting a module would do: which places ask for a text, which have none, and the public names."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator import api
from generator.docs import docs_from
from generator.emit import emit_module
from generator.errors import GeneratorError
from generator.tolerant import Tolerated


@dataclass(frozen=True, slots=True)
class Emission:
    """The outcome for one label: `places` ask for a text, `missing` have none; it `is_whole` if nothing failed."""

    places: frozenset[tuple[str, ...]]
    missing: tuple[str, ...]
    names: tuple[api.PublicName, ...]
    problems: tuple[GeneratorError, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the module can be emitted."""
        return not self.problems


def emit(found: Tolerated, texts: Mapping[str, str]) -> Emission:
    """Emit a module in memory."""
    docs = docs_from(found.source, {file: text.encode("utf-8") for file, text in texts.items()})
    names = api.entries_of(found.module, found.overrides)
    try:
        files = emit_module(found.module, found.source, docs, found.overrides.renamed)
    except GeneratorError as why:
        return Emission(docs.places, tuple(docs.missing), tuple(names), (why,))
    names += api.names_of_package(found.module, files)
    return Emission(docs.places, tuple(docs.missing), tuple(names))
