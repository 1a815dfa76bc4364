"""What the generator knows of a schema after lowering: definitions, fields and type expressions, all immutable."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from generator.values import Value


@dataclass(frozen=True, slots=True)
class Named:
    """A class or alias of the emitted module, by its Python name."""

    name: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A type that stands for itself: `str`, `bool`, `float`, `int`, `None`, `Any`."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer: the format's name, or bounds of its own where the schema narrows them."""

    format: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Advised:
    """A type with limits that a sender should keep to and no reader enforces."""

    inner: "Type"
    advice: tuple[tuple[str, str | int | float], ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; `skips` drops items that do not fit."""

    item: "Type"
    skips: bool = False


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object used as a map with text keys."""

    item: "Type"


@dataclass(frozen=True, slots=True)
class Nullable:
    """A type or null."""

    inner: "Type"


@dataclass(frozen=True, slots=True)
class Choice:
    """A union of scalars and lists, which needs no help at run time."""

    options: tuple["Type", ...]


Type = Named | Plain | Integer | Advised | ListOf | MapOf | Nullable | Choice


def parts(kind: Type) -> Iterator[Type]:
    """List a type expression and all that it is made of."""
    yield kind
    match kind:
        case Advised(inner=inner) | Nullable(inner=inner) | ListOf(item=inner) | MapOf(item=inner):
            yield from parts(inner)
        case Choice(options=options):
            for option in options:
                yield from parts(option)
        case Named() | Plain() | Integer():
            pass


class Presence(Enum):
    """What becomes of a field that is absent, and when it is written."""

    REQUIRED = auto()
    """Absent is an error; always written."""
    OPTION = auto()
    """Absent is None; written when not None."""
    PATCH = auto()
    """Absent is UNSET, null is None; written when not UNSET."""
    DEFAULTED = auto()
    """Absent is the default; always written."""
    EMPTY = auto()
    """Absent is the empty value or the enumeration's default; written when something else."""


class Leniency(StrEnum):
    """What a field does with a value that does not fit."""

    NONE = "none"
    ON_ERROR = "default-on-error"
    ON_NULL = "default-on-null"


@dataclass(frozen=True, slots=True)
class Field:
    """One property: its JSON key and everything that reading and writing depend on."""

    wire: str
    name: str
    kind: Type
    presence: Presence
    leniency: Leniency
    pointer: str
    default: Value | None = None
    """What an absent field reads as, where its presence is `DEFAULTED` or `EMPTY`."""
    constant: str | None = None
    """The only text that the field may hold: the tag of an inner union."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A variant's tag: the JSON key and its value."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Struct:
    """An object with declared properties; with a tag, a variant of one union."""

    name: str
    pointer: str
    fields: tuple[Field, ...]
    tag: Tag | None = None
    base: str | None = None
    method: str | None = None
    side: str | None = None
    untagged_by: str | None = None
    """The tag's key in a union that falls back to this object where there is no tag."""


@dataclass(frozen=True, slots=True)
class CatchAll:
    """An object that keeps undeclared keys: the `other` branch of an open union, or an object that says so itself."""

    name: str
    pointer: str
    fields: tuple[Field, ...]
    other_of: str | None = None
    known: tuple[str, ...] = ()
    tag: Tag | None = None
    reserved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One value of an enumeration."""

    name: str
    value: str | int
    pointer: str


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Named values of one kind; an open one keeps values it does not know, `unknown` names what they become."""

    name: str
    pointer: str
    members: tuple[Member, ...]
    is_int: bool = False
    is_open: bool = False
    unknown: str | None = None


@dataclass(frozen=True, slots=True)
class Identifier:
    """Text with a type of its own."""

    name: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name for a type expression."""

    name: str
    pointer: str
    kind: Type
    method: str | None = None
    side: str | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """Variants told apart by a tag, catch-alls for other tags, and untagged fallbacks."""

    name: str
    pointer: str
    tag_field: str | None
    tagged: tuple[Named, ...]
    others: tuple[Named, ...] = ()
    fallbacks: tuple[Type, ...] = ()
    method: str | None = None
    side: str | None = None
    variants: tuple[tuple[str, str], ...] = ()
    """The tags and titles that lead to each class, joined by slashes, and the class."""


Definition = Struct | CatchAll | Enumeration | Identifier | Alias | Union


@dataclass(frozen=True, slots=True)
class Envelope:
    """One request or notification on the wire: a method and the type of its params (None: no params are defined)."""

    name: str
    pointer: str
    method: str
    params: str | None
    is_request: bool


@dataclass(frozen=True, slots=True)
class Routing:
    """One routing definition: what one side sends of one kind."""

    name: str
    pointer: str
    envelopes: tuple[str, ...]
    responses: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol: who handles it and the types it carries."""

    name: str
    key: str
    handled_by: tuple[str, ...]
    request: str | None = None
    response: str | None = None
    notification: str | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """A capability that a method needs, or something in its params.

    `capability` is its path in `initialize`, as keys joined by dots. `leaf` is the value at the end of that path that
    advertises it; None where no single value would, or where the capability does not follow from handling the method.
    `field` is the field of the params that needs it (None: the method itself), `value` its tag or value (None: any). A
    `group` only groups other capabilities and advertises nothing without them.
    """

    method: str
    side: str
    capability: str
    leaf: Value | None = None
    field: str | None = None
    value: str | None = None
    group: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """Everything that one schema file becomes."""

    label: str
    definitions: tuple[Definition, ...]
    envelopes: tuple[Envelope, ...]
    routings: tuple[Routing, ...]
    methods: tuple[Method, ...]
    exports: tuple[str, ...]
    needs: tuple[Need, ...] = ()
    version: int = 1
    """The version of the protocol that `initialize` settles."""
