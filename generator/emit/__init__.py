"""Emission: one writer per output file makes views of the model and renders them. Nothing is written to disk here.

It knows the model, the docstrings and the templates, and nothing of JSON Schema. It decides how things are spelled;
`lower` decides what they are.
"""

from collections.abc import Mapping

from generator.builders import find_builders
from generator.docs import Docs
from generator.emit.builders import write_builders
from generator.emit.check import check_names
from generator.emit.conversation import write_conversation
from generator.emit.endpoints import write_endpoints
from generator.emit.enums import write_enums
from generator.emit.messages import exports_of, write_messages
from generator.emit.package import emit_package, runtime_files, write_init
from generator.emit.rendering import PACKAGE, Rendering
from generator.emit.types import write_definition, write_types
from generator.model import Module
from generator.source import Source


def emit_module(module: Module, source: Source, docs: Docs, renamed: Mapping[str, str] | None = None) -> dict[str, str]:
    """Write the files of one schema: a path in the package and its text for each.

    `renamed` has the names of former releases that stay importable, and what they are called now. Raises
    `GeneratorError` for a definition whose name is public in every module.
    """
    exports = exports_of(module)
    builders = find_builders(module)
    check_names(module, [*exports, *builders.names, "Method"], source.file)
    rendering = Rendering(module, source)
    texts = {m.name: docs.of_method(m.name) for m in module.methods}
    files = write_messages(rendering, docs, texts)
    files |= write_enums(rendering, docs)
    files |= write_types(rendering, docs)
    files |= write_init(rendering, exports, builders.names, renamed or {})
    if builders.names:
        files |= write_builders(rendering, builders)
    if module.features is not None:
        files |= write_endpoints(rendering, module.features, texts)
        if module.features.conversation is not None:
            files |= write_conversation(rendering, module.features, module.features.conversation)
    return files


__all__ = ["PACKAGE", "emit_module", "emit_package", "runtime_files", "write_definition"]
