"""Tolerant reading: lower what can be read of a schema, and report the rest.

`diff` and `bump` describe a schema even where `generate` would stop. One pass finds all problems. A module without what
they broke would look as if upstream had removed that, so another pass lowers a copy from which as little as possible is
left out: unknown keywords, a default, the property, the definition, and at last every reference to it.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from generator.errors import GeneratorError, Problems, child
from generator.jsonutil import is_array, is_object
from generator.model import Module
from generator.overrides import Overrides
from generator.pipeline import lower_partly
from generator.read import IN_NOT, OF_BRANCH, OF_DEFINITION, OF_PROPERTY, shape_of, unknown_keywords
from generator.source import Source

ROUNDS = 20
"""How often reading is tried before it is given up. Two suffice, but where leaving out a part is not enough."""
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
        overrides, found = overrides_of(pruned.source), Problems()
        module = lower_partly(pruned.source, overrides, found)
        if module is not None and not found:
            return Tolerated(pruned.source, module, overrides, tuple(problems), pruned.is_whole)
        for problem in found.error().problems:
            if not pruned.lacks(problem.pointer):
                problems.add(problem)
        pruned.leave_out(found)
    raise next(iter(problems))


@dataclass(slots=True)
class _Pruned:
    """A copy of a schema from which parts are left out."""

    source: Source
    is_whole: bool = True
    _without_default: list[str] = field(default_factory=list[str])
    """The pointers of properties that have lost their default."""

    def lacks(self, pointer: str) -> bool:
        """Return whether a problem at a pointer may come from what was left out: it is of no interest then."""
        return pointer in self._without_default

    def leave_out(self, problems: Iterable[GeneratorError]) -> None:
        """Leave out what problems report."""
        whole: set[str] = set()
        for problem in problems:
            if problem.file == self.source.meta_file and self.source.meta is not None:
                self.source = replace(self.source, meta=None)
                continue
            tokens = [t.replace("~1", "/").replace("~0", "~") for t in problem.pointer.split("/")[1:]]
            if problem.file != self.source.file or len(tokens) < 2 or tokens[0] != "$defs":
                raise problem
            if tokens[1] not in whole and not self._drop_keywords(tokens):
                self.is_whole = False
                if not (self._drop_default(tokens) or self._drop_property(tokens)):
                    whole.add(tokens[1])
                    self._drop_definition(tokens[1], problem)

    def _drop_keywords(self, tokens: list[str]) -> bool:
        """Drop the unknown keywords of the schema at a pointer; return whether there were any."""
        node = _at(self.source.raw, tokens)
        shape = shape_of(node) if is_object(node) else None
        if not is_object(node) or shape is None:
            return False
        unknown = unknown_keywords(node, shape, _extra(tokens))
        for key in unknown:
            del node[key]
        return bool(unknown)

    def _drop_default(self, tokens: list[str]) -> bool:
        """Drop the default of a property that a pointer leads into; return whether it leads into one."""
        for end in range(4, len(tokens)):
            node = _at(self.source.raw, tokens[:end])
            if tokens[end - 2] == "properties" and tokens[end] == "default" and is_object(node):
                self._without_default.append(child("", *tokens[:end]))
                return node.pop("default", node) is not node
        return False

    def _drop_property(self, tokens: list[str]) -> bool:
        """Make free JSON of the property at a pointer; return whether it is one, and was more than that."""
        for end in range(len(tokens), 3, -1):
            properties, key = _at(self.source.raw, tokens[: end - 1]), tokens[end - 1]
            if tokens[end - 2] == "properties" and is_object(properties) and is_object(properties.get(key)):
                properties[key] = True
                return True
        return False

    def _drop_definition(self, name: str, problem: GeneratorError) -> None:
        """Make free JSON of a definition; drop it if it is that already."""
        definitions = self.source.raw["$defs"]
        if definitions.get(name):
            definitions[name] = {}
        elif name in definitions and len(definitions) > 1:
            del definitions[name]
            _drop_references(self.source.raw, f"#/$defs/{name}")
        elif name in definitions:
            raise problem


def _extra(tokens: list[str]) -> frozenset[str]:
    """Return the keywords that a schema may have because of its place."""
    if len(tokens) == 2:
        return OF_DEFINITION
    place = OF_PROPERTY if tokens[-2] == "properties" else OF_BRANCH
    return place.union(*IN_NOT.values()) if "not" in tokens else place


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
