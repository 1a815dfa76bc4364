"""Merged classes: one Struct with the fields of all classes that a union has, and the rule that tells them apart.

msgspec reads a union of structs only where a tag decides. A merged class has no tag: it takes the keys of all variants,
each strictly, and `settle` builds the variant that the union's rule chooses. Where the keys do not decide, `settle`
raises `ValueError`, and the repair engine decides.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import attrgetter, or_
from typing import Annotated, Any, Literal, NewType, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from .._types.leniency import SenderConstraint
from .._types.structs import GUARD
from .._types.unions import UnionSpec, candidates, forbidden
from .._types.unwrap import unwrap

TAG = "tag_"
"""Name of the field for the tag."""
_BARE = (str, bool)
"""Types that one key may have in different variants: a value of one is never one of the other."""
_UNDECIDED = "The keys of the object do not decide"


class Place(Struct, frozen=True):
    """What stands in the place of a union: the type that msgspec reads, and the function that chooses the variant."""

    kind: Any
    settle: Callable[[Any], Any]


class _Variant:
    """One class of a union: what a merged object must have and must not have to be of it, and how it is built."""

    __slots__ = ("cls", "exact", "excluding", "names", "read", "required")

    def __init__(self, cls: type[Any], names: list[str], required: set[str], excluded: list[str]) -> None:
        """Describe a class with the fields `names`; the fields `excluded` must be absent."""
        self.cls = cls
        self.names = sorted(names, key=lambda name: name not in required)
        self.required = len(required)
        """The first so many of the names."""
        self.read = _getter(self.names)
        self.excluding = _getter(excluded) if excluded else None
        self.exact: tuple[tuple[str, type[Any]], ...] = ()
        """Fields whose type other variants do not share, and the class of their values."""

    def of(self, value: Any) -> Any:
        """Build the variant from a merged object; None if its keys do not make it one of this class.

        All values are valid, as msgspec has read them.
        """
        found = self.read(value)
        if UNSET in found[: self.required]:
            return None
        if self.excluding is not None and any(entry is not UNSET for entry in self.excluding(value)):
            return None
        given = dict(zip(self.names, found, strict=True))
        for name, cls in self.exact:
            if given[name] is not UNSET and given[name].__class__ is not cls:
                raise ValueError(_UNDECIDED)
        if UNSET in found:
            given = {name: entry for name, entry in given.items() if entry is not UNSET}
        return self.cls(**given)


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def merged(spec: UnionSpec) -> Place | None:
    """Make what stands in the place of a union; None for a union that no merged class can express."""
    groups = (*spec.tagged.values(), spec.fallbacks)
    kinds = [kind for group in groups for kind in group]
    if spec.tag_field is None and all(get_origin(_unadvised(kind)) is list for kind in kinds):
        return _merged_lists(spec)
    made = _class_of(kinds, spec.tag_field)
    if made is None:
        return None
    cls, variants = made
    return Place(cls, _settler(spec, cls, variants))


def _settler(spec: UnionSpec, cls: type[Any], variants: dict[Any, _Variant]) -> Callable[[Any], Any]:
    tag_field = spec.tag_field
    absent = tuple(variants[kind] for kind in spec.fallbacks)
    by_tag: dict[str, tuple[_Variant, ...]] = {}
    if tag_field is not None:
        for tag in spec.tagged:
            by_tag[tag] = tuple(variants[kind] for kind in candidates(spec, {tag_field: tag}))
    others = () if spec.catch_alls else absent  # a catch-all keeps all keys: the engine reads it

    def settle(value: Any) -> Any:
        if value.__class__ is not cls:
            return value  # null, or a default
        tag = UNSET if tag_field is None else value.tag_
        for variant in absent if tag is UNSET else by_tag.get(tag, others):
            made = variant.of(value)
            if made is not None:
                return made
        raise ValueError(_UNDECIDED)

    return settle


def _merged_lists(spec: UnionSpec) -> Place | None:
    """Merge lists of structs: all items are of one class."""
    kinds = [get_args(_unadvised(kind))[0] for kind in spec.fallbacks]
    made = _class_of(kinds, None)
    if made is None:
        return None
    cls, variants = made
    in_order = tuple(variants[kind] for kind in kinds)

    def settle(values: Any) -> Any:
        if values.__class__ is not list:
            return values
        for variant in in_order:
            made = list(map(variant.of, values))
            if None not in made:
                return made
        raise ValueError(_UNDECIDED)

    return Place(list.__class_getitem__(cls), settle)


def _class_of(kinds: list[Any], tag_field: str | None) -> tuple[type[Any], dict[Any, _Variant]] | None:
    """Make the merged class of structs, and the rule of each; None if they do not merge."""
    if not all(map(_is_simple, kinds)):
        return None
    infos = {kind: [i for i in msgspec.structs.fields(kind) if i.name != GUARD] for kind in kinds}
    types: dict[str, list[Any]] = {}
    names: dict[str, str] = {}
    for info in (i for found in infos.values() for i in found):
        if info.encode_name == tag_field or names.setdefault(info.encode_name, info.name) != info.name:
            return None
        known = types.setdefault(info.encode_name, [])
        if info.type not in known:
            known.append(info.type)
    if not all(len(found) == 1 or all(_bare(kind) in _BARE for kind in found) for found in types.values()):
        return None
    if tag_field is not None:
        types[tag_field], names[tag_field] = [str], TAG
    for key in sorted({key for kind in kinds for key in forbidden(kind)} - types.keys()):
        types[key], names[key] = [Any], f"excluding_{len(names)}"
    defaults = _shared_defaults(infos, {names[key] for kind in kinds for key in forbidden(kind)})
    fields = [
        (names[key], either((*found, UnsetType)), field(default=defaults.get(key, UNSET), name=key))
        for key, found in types.items()
    ]
    made = msgspec.defstruct("Merged", fields, gc=False, kw_only=True)
    return made, {kind: _variant(kind, found, types, names) for kind, found in infos.items()}


def _shared_defaults(infos: dict[Any, list[Any]], excluding: set[str]) -> dict[str, Any]:
    """List the keys whose default is None in all variants that declare them; any other one is unset if absent."""
    found: dict[str, list[Any]] = {}
    for info in (i for each in infos.values() for i in each):
        known = found.setdefault(info.encode_name, [])
        if info.default not in known:
            known.append(info.default)
    literal = {i.encode_name for each in infos.values() for i in each if get_origin(unwrap(i.type)) is Literal}
    return {
        key: known[0] for key, known in found.items() if known == [None] and key not in excluding and key not in literal
    }


def _variant(kind: type[Any], infos: list[Any], types: dict[str, list[Any]], names: dict[str, str]) -> _Variant:
    # The constructor knows a fixed value, but readers require it.
    required = {i.name for i in infos if i.required or get_origin(unwrap(i.type)) is Literal}
    made = _Variant(kind, [i.name for i in infos], required, [names[key] for key in sorted(forbidden(kind))])
    made.exact = tuple((i.name, _bare(i.type)) for i in infos if len(types[i.encode_name]) > 1)
    return made


def _unadvised(kind: Any) -> Any:
    """Return a type without constraints that readers do not enforce."""
    if get_origin(kind) is Annotated and all(isinstance(m, SenderConstraint) for m in kind.__metadata__):
        return kind.__origin__
    return kind


def _is_simple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct) and not hasattr(kind, "__without__")


def _bare(kind: Any) -> Any:
    while isinstance(kind, NewType):
        kind = kind.__supertype__
    return kind


def either(kinds: Iterable[Any]) -> Any:
    """Return the union of types."""
    return reduce(or_, kinds)
