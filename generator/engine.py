"""The adapter around datamodel-code-generator: the only module that imports it.

It provides the typed form of a raw schema, the helpers that make Python names, and the formatter. The version is pinned
exactly, since any release may change one of the three.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from datamodel_code_generator.format import CodeFormatter, Formatter, PythonVersion

# Upstream documents that the name is imported from this module, but its `__all__` lacks it.
from datamodel_code_generator.parser.jsonschema import (  # type: ignore[attr-defined]
    JsonSchemaObject,  # pyright: ignore[reportPrivateImportUsage]
)
from datamodel_code_generator.reference import EnumFieldNameResolver, FieldNameResolver

from generator.errors import GeneratorError

__all__ = ["SchemaObject", "camel", "changed", "field_name", "format_code", "member_name", "number", "typed"]

SchemaObject = JsonSchemaObject

_FIELDS = FieldNameResolver(snake_case_field=True, remove_special_field_name_prefix=True)
_MEMBERS = EnumFieldNameResolver(capitalise_enum_members=True, use_subclass_enum=True)


def typed(raw: dict[str, Any]) -> SchemaObject:
    """Return the typed form of a raw schema; keywords that it does not model are in `extras`."""
    made: SchemaObject = SchemaObject.model_validate(raw)
    return made


def changed(node: SchemaObject, keywords: dict[str, Any]) -> SchemaObject:
    """Copy a schema with other values of some keywords."""
    made: SchemaObject = node.model_copy(update=keywords)
    return made


def number(value: object) -> int | float | None:
    """Return the plain number of a bound, which the typed form wraps."""
    inner = getattr(value, "value", value)
    return inner if isinstance(inner, int | float) else None


def field_name(key: str) -> str:
    """Return the Python field name of a JSON key: `meta` for `_meta`, `class_` for `class`."""
    return _FIELDS.get_valid_name(key)


def member_name(value: str) -> str:
    """Return the enumeration member of a string value: `UTF_16` for `utf-16`."""
    return _MEMBERS.get_valid_name(value)


def camel(text: str) -> str:
    """Return the PascalCase of a tag or title: `AgentMessageChunk` for `agent_message_chunk`."""
    return "".join(w[0].upper() + w[1:] for w in re.split(r"[^0-9A-Za-z]+", text) if w)


@lru_cache(maxsize=64)
def format_code(code: str, settings: Path) -> str:
    """Format Python source with the pinned ruff, under the settings of the `pyproject.toml` in `settings`.

    Each call starts a process, so the last results are kept.
    """
    formatter = CodeFormatter(PythonVersion.PY_311, settings_path=settings, formatters=[Formatter.RUFF_FORMAT])
    try:
        return formatter.format_code(code)
    except RuntimeError as why:
        reason = str(why).splitlines()[-1]
        raise GeneratorError(f"the emitted code cannot be formatted: {reason}", file="templates") from why
