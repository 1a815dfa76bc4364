"""Second choices: valid values of a union that are not of the type which the fast path reads in its place.

The fast path reads the first type of a union that msgspec cannot express. Where that fails, a second strict decoder
reads the whole value, in the form in which each such place holds a merged class (`merged`). It is built at the first
need, and only for the places where the fast path has failed: `WideForm` learns them from the paths of its errors.

The form with lenient fields, in which repairs are made, is built in the same way (`tolerant`).

The classes around a place are replaced by subclasses that settle it: after msgspec has read such an object, it puts
the variant into its field, and becomes an object of the class that it stands for.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import DecodeError, Struct, ValidationError, field

from .._types.unions import UnionSpec, spec_of
from .._types.unwrap import union_members, unwrap
from .hook import dec_hook
from .merged import NOTED, Place, either, merged
from .paths import pattern_of

NOTHING: Any = object()
"""Returned where no second choice was found: the repair engine decides."""
MOST_PATHS = 1024
"""Different paths of errors that are remembered of one type. Paths are made of the schema's keys."""
MOST_WIDE = 64
"""Different paths of errors to which one form is widened; few lead to a place."""
MOST_STEPS = 24

_STEP = re.compile(r"\[\]|[^.\[\]]+")
Path = tuple[str, ...]
Paths = tuple[Path, ...]
Fix = Callable[[Any], Any] | None
Lenient = Callable[[Any, Any, Paths, Path], tuple[Any, Callable[[Any], Any]] | None]
"""Returns the declaration of a field that takes any value, and what settles it; None for a field that is left alone."""

_FORMS: dict[Any, "WideForm"] = {}
_PLACES: dict[int, tuple[UnionSpec, Place | None]] = {}
_FIELDS: dict[Any, dict[str, Any]] = {}


def second_choice(kind: Any, data: Any, pattern: str) -> Any:
    """Read `data` strictly as `kind`, whose fast path failed at `pattern`; return `NOTHING` if that fails as well.

    `pattern` is the path of the error below the value, with `[]` for each index.
    """
    form = _FORMS.get(kind)
    if form is None:
        form = _FORMS[kind] = WideForm(kind)
    found = form.read(data, pattern)
    NOTED.has_second = False
    return found


def places_of(kind: Any) -> Paths:
    """Return the paths of the places in a type whose second choices were met."""
    return _FORMS[kind].paths


def expecting(kind: Any, forget: Callable[[], object]) -> Any:
    """Return a class that is read in place of the Struct `kind` where second choices are expected.

    It reads second choices in the first pass, and gives objects of the same classes. An object without any second
    choice is read more slowly than by `kind`: after such a one, `forget` is called. Objects with second choices in
    other places than those that `second_choice` has met are not read.
    """
    form = _FORMS[kind]
    base = Widening(form.paths).of(kind)
    settle = None if base.__settles__ is None else base.__post_init__
    cls = get_origin(kind) or kind

    def settle_and_note(self: Any) -> None:
        if settle is None:
            self.__class__ = cls
        else:
            settle(self)
        if NOTED.has_second:
            NOTED.has_second = False
        else:
            forget()

    metaclass: Any = base.__class__
    return metaclass(base.__name__, (base,), {"__module__": base.__module__, "__post_init__": settle_and_note})


class WideForm:
    """The wide form of one type, as far as it was needed: with second choices, or else with `lenient` fields."""

    def __init__(self, kind: Any, lenient: Lenient | None = None) -> None:
        self.kind = kind
        self.lenient = lenient
        self.leads: dict[str, bool] = {}
        """Whether a path of an error leads to a place that the form widens."""
        self.paths: Paths = ()
        self.decode: Callable[[Any], Any] | None = None

    def read(self, data: Any, pattern: str) -> Any:
        """Read a value whose fast path failed at `pattern`, or return `NOTHING`."""
        while self.leads_to_place(pattern) and self.decode is not None:
            known = len(self.paths)
            try:
                return self.decode(data)
            except ValidationError as why:
                pattern = pattern_of(why)
            except (DecodeError, ValueError, RecursionError):
                return NOTHING
            if not self.leads_to_place(pattern) or len(self.paths) == known or self.lenient is not None:
                return NOTHING
        return NOTHING

    def leads_to_place(self, pattern: str) -> bool:
        """Return whether the path leads to a place; widen the form at a new one."""
        found = self.leads.get(pattern)
        if found is None:
            found = False
            if len(self.leads) < MOST_PATHS and len(self.paths) < MOST_WIDE:
                path = tuple(_STEP.findall(pattern))[:MOST_STEPS]
                alone = Widening((path,), self.lenient).widened(self.kind, (path,), ())
                found = self.leads[pattern] = alone[0] is not self.kind
                if found:
                    self.widen((*self.paths, path), None if self.paths else alone)
        return found

    def widen(self, paths: Paths, made: tuple[Any, Fix] | None) -> None:
        """Build the decoder of the form that is wide at all of `paths`; `made` is that form if it was made already."""
        kind, settle = made or Widening(paths, self.lenient).widened(self.kind, paths, ())
        read = msgspec.json.Decoder(kind, dec_hook=dec_hook).decode
        self.paths, self.decode = paths, read if settle is None else _settled(read, settle)


class Widening(Struct):
    """Makes the form of a type that is wide at some paths."""

    paths: Paths
    lenient: Lenient | None = None

    def of(self, kind: Any) -> Any:
        """Return what msgspec reads for `kind`: itself if no place is on the paths."""
        return self.widened(kind, self.paths, ())[0]

    def widened(self, kind: Any, paths: Paths, at: Path) -> tuple[Any, Fix]:
        """Return what msgspec reads for `kind`, and the function that settles what it has read.

        `paths` lead on from the kind, which stands at the path `at`.
        """
        spec = spec_of(kind)
        if spec is not None:
            place = place_of(spec)
            if place is not None:
                return (place.kind, place.settle) if self.lenient is None else (kind, None)
            native = get_args(get_args(kind)[0]) if get_origin(kind) is Annotated else ()
            return self._union(kind, native, paths, at)
        if get_origin(kind) is Annotated:
            inner, settle = self.widened(kind.__origin__, paths, at)
            return (kind, None) if inner is kind.__origin__ else (Annotated[(inner, *kind.__metadata__)], settle)
        plain = unwrap(kind)
        if members := union_members(plain):
            return self._union(kind, members, paths, at)
        origin: Any = get_origin(plain) or plain
        if origin is list or origin is dict:
            return self._items(kind, origin, get_args(plain), paths, at)
        if isinstance(origin, type) and issubclass(origin, Struct):
            found = self._struct(plain, origin, paths, at)
            return (kind, None) if found is None else (found, None)
        return kind, None

    def _union(self, kind: Any, members: tuple[Any, ...], paths: Paths, at: Path) -> tuple[Any, Fix]:
        pairs = [self.widened(member, paths, at) for member in members]
        if all(new is old for (new, _), old in zip(pairs, members, strict=True)):
            return kind, None
        settles = [settle for _, settle in pairs if settle is not None]
        if len(settles) > 1:
            return kind, None
        return either(new for new, _ in pairs), settles[0] if settles else None

    def _items(self, kind: Any, origin: Any, args: tuple[Any, ...], paths: Paths, at: Path) -> tuple[Any, Fix]:
        below = tuple(path[1:] for path in paths if path and path[0] == "[]")
        if not below or not args:
            return kind, None
        item, settle = self.widened(args[-1], below, (*at, "[]"))
        if item is args[-1]:
            return kind, None
        if origin is list:
            return list.__class_getitem__(item), None if settle is None else _each(settle)
        return dict.__class_getitem__((args[0], item)), None if settle is None else _each_value(settle)

    def _struct(self, kind: Any, cls: type[Any], paths: Paths, at: Path) -> type[Any] | None:
        """Return a subclass that reads and settles the fields on `paths`; None if no place is there."""
        keys = {path[0] for path in paths if path}.intersection(cls.__struct_encode_fields__)
        hints: dict[str, Any] = {}
        namespace: dict[str, Any] = {"__module__": cls.__module__, "__annotations__": hints}
        settles: list[tuple[str, Callable[[Any], Any]]] = []
        for key in sorted(keys):
            info = _fields_of(kind)[key]
            below = tuple(path[1:] for path in paths if path and path[0] == key)
            new, settle = self.widened(info.type, below, (*at, key))
            declared = _same_default(info)
            if new is info.type:
                taken = self.lenient(kind, info, below, at) if self.lenient is not None else None
                if taken is None:
                    continue
                new, (declared, settle) = Any, taken
            hints[info.name], namespace[info.name] = new, declared
            if settle is not None:
                settles.append((info.name, settle))
        if not hints:
            return None
        namespace["__post_init__"] = _settling(cls, settles)
        namespace["__settles__"] = settles or None
        metaclass: Any = cls.__class__
        found: type[Any] = metaclass(cls.__name__, (cls,), namespace)
        return found


def _fields_of(kind: Any) -> dict[str, Any]:
    """List the fields of a Struct by key."""
    infos = _FIELDS.get(kind)
    if infos is None:
        infos = _FIELDS[kind] = {info.encode_name: info for info in msgspec.structs.fields(kind)}
    return infos


def place_of(spec: UnionSpec) -> Place | None:
    """Return what stands in the place of a union; None if msgspec reads all its types, or cannot read them merged."""
    if not spec.fallbacks and all(len(kinds) == 1 for kinds in spec.tagged.values()):
        return None
    found = _PLACES.get(id(spec))
    if found is None:  # the spec is kept, so that no other one gets its id
        found = _PLACES[id(spec)] = spec, merged(spec)
    return found[1]


def _same_default(info: Any) -> Any:
    """Declare a field with the default and the key of another one."""
    declare: Any = field
    return declare(default=info.default, default_factory=info.default_factory, name=info.encode_name)


def _settling(cls: type[Any], settles: list[tuple[str, Callable[[Any], Any]]]) -> Any:
    """Return what msgspec calls with each object of a subclass that it has read: the object becomes one of `cls`."""
    if not settles:

        def settle_none(self: Any) -> None:
            self.__class__ = cls

        return settle_none
    if len(settles) > 1:

        def settle_all(self: Any) -> None:
            for name, settle in settles:
                setattr(self, name, settle(getattr(self, name)))
            self.__class__ = cls

        return settle_all
    ((name, settle),) = settles

    def settle_one(self: Any) -> None:
        setattr(self, name, settle(getattr(self, name)))
        self.__class__ = cls

    return settle_one


def _settled(read: Callable[[Any], Any], settle: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda data: settle(read(data))


def _each(settle: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: [settle(value) for value in values] if values.__class__ is list else values


def _each_value(settle: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def settle_values(values: Any) -> Any:
        if values.__class__ is not dict:
            return values
        return {key: settle(value) for key, value in values.items()}

    return settle_values
