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
from .._types.unions import UnionSpec, candidates, forbidden, native_kinds
from .._types.unwrap import unwrap

TAG = "tag_"
"""Name of the field for the tag."""
_BARE = (str, bool)
"""Types that one key may have in different variants: a value of one is never one of the other."""
_UNDECIDED = "The keys of the object do not decide"


class Noted(Struct):
    """What was read since somebody last looked."""

    has_second: bool = False
    """Whether a variant was built that the fast path does not read."""


NOTED = Noted()


class Place(Struct, frozen=True):
    """What stands in the place of a union: the type that msgspec reads, and the function that chooses the variant."""

    kind: Any
    settle: Callable[[Any], Any]


class _Variant(Struct):
    """One class of a union: what a merged object must have and must not have to be of it.

    All that an object has is valid, as msgspec has read it.
    """

    cls: type[Any]
    names: list[str]
    """The fields."""
    required: list[str]
    """Required fields that the merged class does not require."""
    excluded: list[str]
    """Fields of the merged class that must be absent."""
    exact: list[tuple[str, type[Any]]]
    """Fields whose type other variants do not share, and the class of their values."""
    may_lack: bool
    """Whether a field may be absent that has no default in the merged class."""

    def builder(self) -> Callable[[Any], Any]:
        """Return a function that builds the variant from a merged object, or returns None for one of another class."""
        cls, names, required, may_lack = self.cls, self.names, self.required, self.may_lack
        read = _getter(names)
        check = self.checker() if self.excluded or self.exact else None

        def build(value: Any) -> Any:
            for name in required:
                if getattr(value, name) is UNSET:
                    return None
            if check is not None and not check(value):
                return None
            given = dict(zip(names, read(value)))  # noqa: B905 # the keyword would cost more than all else here
            if may_lack:
                given = {name: found for name, found in given.items() if found is not UNSET}
            return cls(**given)

        return build

    def checker(self) -> Callable[[Any], bool]:
        """Return a function that tells whether nothing excludes the variant; it raises where the keys do not decide."""
        excluded, exact = self.excluded, self.exact

        def check(value: Any) -> bool:
            if any(getattr(value, name) is not UNSET for name in excluded):
                return False
            for name, cls in exact:
                found = getattr(value, name)
                if found is not UNSET and found.__class__ is not cls:
                    raise ValueError(_UNDECIDED)
            return True

        return check


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _noting(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Note that a variant was built which the fast path does not read."""

    def build_and_note(value: Any) -> Any:
        made = build(value)
        if made is not None:
            NOTED.has_second = True
        return made

    return build_and_note


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
    first = native_kinds(spec)
    build = {kind: v.builder() if kind in first else _noting(v.builder()) for kind, v in variants.items()}
    absent = tuple(build[kind] for kind in spec.fallbacks)
    by_tag: dict[Any, tuple[Callable[[Any], Any], ...]] = {UNSET: absent}
    for tag in spec.tagged:
        by_tag[tag] = tuple(build[kind] for kind in candidates(spec, {tag_field: tag}))
    others = () if spec.catch_alls else absent  # a catch-all keeps all keys: the engine reads it

    def settle(value: Any) -> Any:
        if value.__class__ is not cls:
            return value  # null, or a default
        for build in absent if tag_field is None else by_tag.get(value.tag_, others):
            made = build(value)
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
    first, *others = [variants[kind].builder() for kind in kinds]
    in_order = [first, *map(_noting, others)]

    def settle(values: Any) -> Any:
        if values.__class__ is not list:
            return values
        for build in in_order:
            made = list(map(build, values))
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
    forbids = {key for kind in kinds for key in forbidden(kind)}
    defaults = {key: _shared_default(key, infos) for key in types.keys() - forbids - {tag_field}}
    fields = [
        (names[key], either((*found, UnsetType)), field(default=defaults.get(key, UNSET), name=key))
        if defaults.get(key) is not msgspec.NODEFAULT
        else (names[key], found[0] if len(found) == 1 else either(found), field(name=key))
        for key, found in types.items()
    ]
    made = msgspec.defstruct("Merged", fields, gc=False, kw_only=True)
    return made, {kind: _variant(kind, found, types, names, defaults) for kind, found in infos.items()}


def _shared_default(key: str, infos: dict[Any, list[Any]]) -> Any:
    """Return the default of a key in the merged class: none if all variants require it, None if all default to it.

    Any other key is unset if it is absent.
    """
    found = [next((i for i in each if i.encode_name == key), None) for each in infos.values()]
    if all(i is not None and _is_required(i) for i in found):
        return msgspec.NODEFAULT
    return None if all(i is None or (i.default is None and not _is_required(i)) for i in found) else UNSET


def _variant(
    kind: type[Any], infos: list[Any], types: dict[str, list[Any]], names: dict[str, str], defaults: dict[str, Any]
) -> _Variant:
    return _Variant(
        kind,
        names=[i.name for i in infos],
        required=[i.name for i in infos if _is_required(i) and defaults.get(i.encode_name, UNSET) is UNSET],
        excluded=[names[key] for key in sorted(forbidden(kind))],
        exact=[(i.name, _bare(i.type)) for i in infos if len(types[i.encode_name]) > 1],
        may_lack=any(not _is_required(i) and defaults.get(i.encode_name, UNSET) is UNSET for i in infos),
    )


def _is_required(info: Any) -> bool:
    """Return whether readers require a field. The constructor knows a fixed value, but readers require it."""
    return info.required or get_origin(unwrap(info.type)) is Literal


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
