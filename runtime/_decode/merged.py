"""Merged classes: one Struct with the fields of all classes that a union has, and the rule that tells them apart.

msgspec reads a union of structs only where a tag decides. A merged class has no tag: it takes the keys of all variants,
each strictly, and `settle` builds the variant that the union's rule chooses. Where the keys do not decide, `settle`
raises `ValueError`, and the repair engine decides.
"""

from collections.abc import Callable, Iterable
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
_UNSET: dict[str, Any] = {"default": UNSET}
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
        if self.exact or self.may_lack:
            return self.slow_builder()
        absent = [f"value.{name} is UNSET" for name in self.required]
        absent += [f"value.{name} is not UNSET" for name in self.excluded]
        copies = ", ".join(f"{name}=value.{name}" for name in self.names)
        # Compiled, as dataclasses are: a dict for the constructor alone takes longer than this.
        text = f"lambda value: None if {' or '.join(absent) or False} else cls({copies})"
        build: Callable[[Any], Any] = eval(text, {"cls": self.cls, "UNSET": UNSET})
        return build

    def slow_builder(self) -> Callable[[Any], Any]:
        """Return the same for variants with fields that are looked at one by one."""
        cls, names, required, excluded, exact = self.cls, self.names, self.required, self.excluded, self.exact

        def build(value: Any) -> Any:
            if any(getattr(value, name) is UNSET for name in required):
                return None
            if any(getattr(value, name) is not UNSET for name in excluded):
                return None
            given = {name: found for name in names if (found := getattr(value, name)) is not UNSET}
            if any(name in given and given[name].__class__ is not kind for name, kind in exact):
                raise ValueError(_UNDECIDED)
            return cls(**given)

        return build


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
    build = {kind: (variant.builder(), kind not in first) for kind, variant in variants.items()}
    absent = tuple(build[kind] for kind in spec.fallbacks)
    by_tag: dict[Any, tuple[tuple[Callable[[Any], Any], bool], ...]] = {UNSET: absent}
    for tag in spec.tagged:
        by_tag[tag] = tuple(build[kind] for kind in candidates(spec, {tag_field: tag}))
    others = () if spec.catch_alls else absent  # a catch-all keeps all keys: the engine reads it

    def settle(value: Any) -> Any:
        if value.__class__ is not cls:
            return value  # null, or a default
        for build, is_second in absent if tag_field is None else by_tag.get(value.tag_, others):
            made = build(value)
            if made is not None:
                if is_second:
                    NOTED.has_second = True
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
    in_order = [variants[kind].builder() for kind in kinds]

    def settle(values: Any) -> Any:
        if values.__class__ is not list:
            return values
        for build in in_order:
            made: list[Any] = []
            for value in values:
                one = build(value)
                if one is None:
                    break
                made.append(one)
            else:
                if build is not in_order[0]:
                    NOTED.has_second = True
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
    unset = {key for key in types if defaults.get(key, _UNSET) is _UNSET}
    fields = [
        (
            names[key],
            either((*found, UnsetType) if key in unset else found),
            field(name=key, **defaults.get(key, _UNSET)),
        )
        for key, found in types.items()
    ]
    made = msgspec.defstruct("Merged", fields, gc=False, kw_only=True)
    return made, {kind: _variant(kind, found, types, names, unset) for kind, found in infos.items()}


def _shared_default(key: str, infos: dict[Any, list[Any]]) -> dict[str, Any]:
    """Return the default of a key in the merged class, as arguments of `field`: that of all variants which declare it.

    If all variants require the key, the merged class does. Any other key is unset if it is absent.
    """
    found = [i for each in infos.values() for i in each if i.encode_name == key]
    if all(map(_is_required, found)):
        return {} if len(found) == len(infos) else _UNSET
    first = found[0]
    for info in found:
        if _is_required(info) or info.default is not first.default or info.default_factory is not first.default_factory:
            return _UNSET
    return {"default": first.default, "default_factory": first.default_factory}


def _variant(
    kind: type[Any], infos: list[Any], types: dict[str, list[Any]], names: dict[str, str], unset: set[str]
) -> _Variant:
    return _Variant(
        kind,
        names=[i.name for i in infos],
        required=[i.name for i in infos if _is_required(i) and i.encode_name in unset],
        excluded=[names[key] for key in sorted(forbidden(kind))],
        exact=[(i.name, _bare(i.type)) for i in infos if len(types[i.encode_name]) > 1],
        may_lack=any(not _is_required(i) and i.encode_name in unset for i in infos),
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
    first, *others = kinds
    for kind in others:
        first |= kind
    return first
