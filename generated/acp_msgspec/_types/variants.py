"""Variants that this release of the schema does not define: kept as a whole and written back."""

from typing import Any, ClassVar, cast, dataclass_transform

import msgspec
from msgspec import UNSET, Struct, field

from .hooks import StandIn
from .naming import wire_name


class UnknownVariant:
    """A value of a closed union with an unknown tag, kept because of `unknown="keep"`.

    `tag_field` is the JSON key of the tag, `tag` its value, `data` the whole object as plain JSON values, tag included.
    """

    __slots__ = ("data", "tag", "tag_field")
    __match_args__ = ("tag",)

    def __init__(self, tag_field: str, tag: str, data: dict[str, Any]) -> None:
        """Keep `data`, an object whose `tag_field` is `tag`."""
        self.tag_field = tag_field
        self.tag = tag
        self.data = data

    def __eq__(self, other: object) -> bool:
        """Compare the kept objects."""
        return self.data == other.data if isinstance(other, UnknownVariant) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Support all protocols of pickle; the oldest ones do not know slots."""
        return self.__class__, (self.tag_field, self.tag, self.data)

    def __repr__(self) -> str:
        """Show the tag and the kept object."""
        return f"UnknownVariant(tag_field={self.tag_field!r}, tag={self.tag!r}, data={self.data!r})"


class Shape(Struct, frozen=True):
    """The role of a catch-all class in its union.

    `other_of` is the JSON key of the tag if the class catches unknown tags; `known` are the tags of the other variants,
    which it rejects. `tag_field` and `tag` are its fixed tag. `reserved` are JSON keys of the other variants
    that never count as extra.
    """

    other_of: str | None = None
    known: frozenset[str] = frozenset()
    tag_field: str | None = None
    tag: str | None = None
    reserved: frozenset[str] = frozenset()


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class _Declared:
    """Shows type checkers the keyword constructor of the classes below."""


class _CatchAllType(StandIn):
    """Metaclass of the catch-all classes: stand-ins to msgspec, ordinary classes to `isinstance`."""

    def __instancecheck__(self, instance: object) -> bool:
        """Check the class of an instance, as for any class."""
        return type.__instancecheck__(self, instance)


class CatchAll(_Declared, metaclass=_CatchAllType):
    """Base of objects that keep keys which the schema does not declare.

    Declared keys are attributes. All others are kept in `extra` as plain JSON values and written back.

    The class arguments are those of `Shape`.
    """

    extra: dict[str, Any] = {}
    """The undeclared keys and their plain JSON values."""

    __shape__: ClassVar[Shape]
    __forbids__: ClassVar[frozenset[str]]

    def __init_subclass__(
        cls,
        *,
        other_of: str | None = None,
        known: tuple[str, ...] = (),
        tag_field: str | None = None,
        tag: str | None = None,
        reserved: tuple[str, ...] = (),
        forbids: tuple[str, ...] = (),
    ) -> None:
        """Record the role of the class; `forbids` are JSON keys that exclude it where a union has it as a variant."""
        cls.__forbids__ = frozenset(forbids)
        cls.__shape__ = Shape(other_of, frozenset(known), tag_field, tag, frozenset(reserved))

    def __init__(self, /, **values: Any) -> None:
        """Set the declared fields from keyword arguments, the others to their defaults."""
        for name, entry in declared(type(self)).items():
            if name in values:
                setattr(self, name, values.pop(name))
            elif entry.required:
                raise TypeError(f"Missing required argument {name!r}")
            else:
                setattr(self, name, entry.make())
        if values:
            raise TypeError(f"Unexpected keyword argument {next(iter(values))!r}")

    def __eq__(self, other: object) -> bool:
        """Compare class and fields."""
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the fields that differ from their defaults."""
        entries = declared(type(self))
        shown = (f"{k}={v!r}" for k, v in self.__dict__.items() if entries[k].required or v != entries[k].make())
        return f"{type(self).__name__}({', '.join(shown)})"


class Declared:
    """One declared field of a `CatchAll`: its JSON key, how its default is made, and whether it is written."""

    __slots__ = ("default", "factory", "required", "wire", "written")

    def __init__(self, name: str, value: Any) -> None:
        """Evaluate the right-hand side of a field declaration."""
        self.required = value is msgspec.NODEFAULT
        self.wire = wire_name(name)
        self.default: Any = value
        self.factory: Any = None
        if isinstance(value, _FIELD_TYPE):
            spec: Any = value
            self.wire = self.wire if spec.name is None else spec.name
            self.default, self.factory = spec.default, spec.default_factory
            self.required = self.default is msgspec.NODEFAULT and self.factory is msgspec.NODEFAULT
            self.factory = None if self.factory is msgspec.NODEFAULT else self.factory
        elif value == [] or value == {}:  # as in a Struct, an empty literal means a new one for each object
            self.factory = list if value == [] else dict
        # As in msgspec: an unchanged default is left out only if its factory is one of these.
        self.written = self.factory is not None and self.factory not in (list, dict, set)

    def make(self) -> Any:
        """Return the default."""
        return self.factory() if self.factory is not None else self.default


_FIELD_TYPE: type[object] = type(cast("object", field()))
_DECLARED: dict[type, dict[str, Declared]] = {}


def declared(cls: type[CatchAll]) -> dict[str, Declared]:
    """List the fields of a catch-all class in order, `extra` last."""
    found = _DECLARED.get(cls)
    if found is None:
        names = [n for n, a in cls.__annotations__.items() if "ClassVar[" not in str(a)[:16]]
        found = {n: Declared(n, cls.__dict__.get(n, msgspec.NODEFAULT)) for n in names}
        found["extra"] = Declared("extra", {})
        _DECLARED[cls] = found
    return found


def enc_hook(value: Any) -> Any:
    """Return the plain form of the classes above, for msgspec's encoder."""
    if isinstance(value, CatchAll):
        return _plain(value)
    if isinstance(value, UnknownVariant):
        return value.data
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


def _plain(value: CatchAll) -> dict[str, Any]:
    cls = type(value)
    out: dict[str, Any] = {}
    shape = cls.__shape__
    if shape.tag_field is not None:
        out[shape.tag_field] = shape.tag
    for name, entry in declared(cls).items():
        if name == "extra":
            break
        item = value.__dict__[name]
        if item is UNSET or (not (entry.required or entry.written) and _is_default(item, entry)):
            continue
        out[entry.wire] = item
    for key, item in value.extra.items():
        out.setdefault(key, item)
    return out


def _is_default(item: Any, entry: Declared) -> bool:
    return (not item and item.__class__ is entry.factory) if entry.factory is not None else item is entry.default
