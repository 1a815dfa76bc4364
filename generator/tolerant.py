"""Tolerant reading: lower what can be read of a schema, and report the rest.

`diff` and `bump` describe a schema even where `generate` would stop. What is reported at a place is left out there, in
ever larger parts: first unknown keywords, then the property, the definition, and at last every reference to it.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from generator.errors import GeneratorError, Problems
from generator.jsonutil import is_array, is_object
from generator.model import Module
from generator.overrides import Overrides
from generator.pipeline import lower_schema
from generator.read import ANYWHERE, KEYWORDS, OF_DEFINITION, OF_PROPERTY, OF_ROOT, shape_of
from generator.source import Source

ROUNDS = 200
"""How often reading is tried before it is given up; a round handles all problems that reading reports at once."""
_WRAPPER = {"title", "description", "allOf", "$ref"}
"""The keywords of a branch that is nothing but a reference."""


@dataclass(frozen=True, slots=True)
class Tolerated:
    """What could be read of a schema, and the problems of the rest.

    It `is_whole` if nothing but unknown keywords and the list of methods was left out.
    """

    source: Source
    module: Module
    overrides: Overrides
    problems: tuple[GeneratorError, ...] = ()
    is_whole: bool = True


def lower_what_can_be_read(source: Source, overrides_of: Callable[[Source], Overrides]) -> Tolerated:
    """Read and lower a schema, with overrides that need not match.

    Raises `GeneratorError` for a problem that has no place in the schema, or that stays whatever is left out.
    """
    pruned = _Pruned(replace(source, raw=deepcopy(source.raw), pinned=False))
    problems = Problems()
    for _ in range(ROUNDS):
        overrides = overrides_of(pruned.source)
        try:
            module = lower_schema(pruned.source, overrides)
        except GeneratorError as why:
            problems.add(why)
            pruned.leave_out(why)
        else:
            return Tolerated(pruned.source, module, overrides, tuple(problems), pruned.is_whole)
    raise next(iter(problems))


@dataclass(slots=True)
class _Pruned:
    """A copy of a schema from which parts are left out."""

    source: Source
    is_whole: bool = True

    def leave_out(self, why: GeneratorError) -> None:
        """Leave out what an error reports; where it reports several problems, one of each definition."""
        seen: set[str] = set()
        for problem in why.problems:
            if problem.file == self.source.meta_file and self.source.meta is not None:
                self.source = replace(self.source, meta=None)
                continue
            tokens = [t.replace("~1", "/").replace("~0", "~") for t in problem.pointer.split("/")[1:]]
            if problem.file != self.source.file or len(tokens) < 2 or tokens[0] != "$defs":
                raise problem
            if self._drop_keywords(tokens):
                continue
            if tokens[1] not in seen:
                seen.add(tokens[1])
                self.is_whole = False
                self._drop_part(tokens, problem)

    def _drop_keywords(self, tokens: list[str]) -> bool:
        """Drop the unknown keywords of the schema at a pointer; return whether there were any."""
        node = _at(self.source.raw, tokens)
        shape = shape_of(node) if is_object(node) else None
        if not is_object(node) or shape is None:
            return False
        known = KEYWORDS[shape] | ANYWHERE | OF_DEFINITION | OF_PROPERTY | OF_ROOT
        unknown = [key for key in node if key not in known]
        for key in unknown:
            del node[key]
        return bool(unknown)

    def _drop_part(self, tokens: list[str], problem: GeneratorError) -> None:
        """Make free JSON of the property or the definition at a pointer; if it is that already, drop the definition."""
        definitions, name = self.source.raw["$defs"], tokens[1]
        for end in range(len(tokens), 3, -1):
            properties, key = _at(self.source.raw, tokens[: end - 1]), tokens[end - 1]
            if tokens[end - 2] == "properties" and is_object(properties) and is_object(properties.get(key)):
                properties[key] = True
                return
        if definitions.get(name):
            definitions[name] = {}
        elif name in definitions and len(definitions) > 1:
            del definitions[name]
            _drop_references(self.source.raw, f"#/$defs/{name}")
        else:
            raise problem


def _at(raw: Any, tokens: list[str]) -> Any:
    node = raw
    for token in tokens:
        if is_array(node):
            node = node[int(token)] if token.isdecimal() and int(token) < len(node) else None
        else:
            node = node.get(token) if is_object(node) else None
    return node


def _drop_references(node: Any, target: str) -> None:
    """Drop the references to a definition, and the branches that are nothing else."""
    if is_array(node):
        node[:] = [item for item in node if not _is_reference(item, target)]
    elif is_object(node) and node.get("$ref") == target:
        del node["$ref"]
    for value in list(node.values()) if is_object(node) else node if is_array(node) else ():
        _drop_references(value, target)
    if is_object(node):
        for keyword in ("anyOf", "oneOf", "allOf"):
            if node.get(keyword) == []:
                del node[keyword]


def _is_reference(item: Any, target: str) -> bool:
    if not is_object(item) or not item.keys() <= _WRAPPER:
        return False
    inner = item.get("allOf")
    return item.get("$ref") == target or (is_array(inner) and len(inner) == 1 and _is_reference(inner[0], target))
