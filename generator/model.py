"""The model of a lowered schema: definitions, fields, type expressions, messages and features, all immutable."""

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
    """A built-in type: `str`, `bool`, `float`, `int`, `None`, or `Any`."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer of a named format such as `uint32`; with bounds where the schema narrows those of the format."""

    format: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Constrained:
    """A type with constraints for senders, which readers do not enforce, and with limits that readers enforce."""

    inner: "Type"
    constraints: tuple[tuple[str, str | int | float], ...]
    enforced: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; with `skips`, readers drop invalid items."""

    item: "Type"
    skips: bool = False


@dataclass(frozen=True, slots=True)
class MapOf:
    """A JSON object with arbitrary keys and values of one type."""

    item: "Type"


@dataclass(frozen=True, slots=True)
class Nullable:
    """A type or null."""

    inner: "Type"


@dataclass(frozen=True, slots=True)
class Choice:
    """A union of scalars and lists, which msgspec decodes by itself."""

    options: tuple["Type", ...]


Type = Named | Plain | Integer | Constrained | ListOf | MapOf | Nullable | Choice


def parts(kind: Type) -> Iterator[Type]:
    """List a type expression and all types inside it."""
    yield kind
    match kind:
        case Constrained(inner=inner) | Nullable(inner=inner) | ListOf(item=inner) | MapOf(item=inner):
            yield from parts(inner)
        case Choice(options=options):
            for option in options:
                yield from parts(option)
        case Named() | Plain() | Integer():
            pass


class Presence(Enum):
    """What an absent field is read as, and when the field is written."""

    REQUIRED = auto()
    """Absent is an error; always written."""
    OPTION = auto()
    """Absent is None; written when not None."""
    PATCH = auto()
    """Absent is UNSET, null is None; written when not UNSET."""
    ABSENT = auto()
    """Absent is UNSET, null is an error; written when not UNSET."""
    DEFAULTED = auto()
    """Absent is the default; always written."""
    EMPTY = auto()
    """Absent is the empty value or the enumeration's default; written when it differs."""


class Leniency(StrEnum):
    """How a field treats an invalid value."""

    NONE = "none"
    ON_ERROR = "default-on-error"
    ON_NULL = "default-on-null"


@dataclass(frozen=True, slots=True)
class Field:
    """One property: its JSON key, and all that decoding and encoding depend on."""

    wire: str
    name: str
    kind: Type
    presence: Presence
    leniency: Leniency
    pointer: str
    default: Value | None = None
    """What an absent field reads as, where its presence is `DEFAULTED` or `EMPTY`."""
    constant: str | None = None
    """The only string that the field may hold: the tag of an inner union."""
    merged: bool = False
    """Whether an object changes the present one key by key, where null removes a key, instead of replacing it; only
    where the presence is `PATCH`."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A variant's tag: the JSON key and its value."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Guard:
    """A key that an object must not have; with `unless`, it may have that one value, which is not kept."""

    key: str
    unless: str | None = None


@dataclass(frozen=True, slots=True)
class Struct:
    """An object with declared properties; with a tag, it is a variant of a union."""

    name: str
    pointer: str
    fields: tuple[Field, ...]
    tag: Tag | None = None
    base: str | None = None
    method: str | None = None
    side: str | None = None
    untagged_by: str | None = None
    """The tag's key in a union that falls back to this object if the tag is absent."""
    forbids: tuple[str, ...] = ()
    """The keys that no value may have which a union reads as this object."""
    takes_null: bool = False
    """Whether null stands for an object without keys."""
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class CatchAll:
    """An object that keeps undeclared keys: the `other` branch of an open union, or a separate object."""

    name: str
    pointer: str
    fields: tuple[Field, ...]
    other_of: str | None = None
    known: tuple[str, ...] = ()
    tag: Tag | None = None
    reserved: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One value of an enumeration."""

    name: str
    value: str | int
    pointer: str


@dataclass(frozen=True, slots=True)
class Enumeration:
    """An enumeration. An open one keeps unknown values, or reads them as the member with the value `unknown`."""

    name: str
    pointer: str
    members: tuple[Member, ...]
    is_int: bool = False
    is_open: bool = False
    unknown: str | None = None


@dataclass(frozen=True, slots=True)
class Identifier:
    """A string of a named type, such as an id."""

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
    """Variants with a discriminator, catch-alls for unknown tags, and untagged fallbacks."""

    name: str
    pointer: str
    tag_field: str | None
    tagged: tuple[Named, ...]
    others: tuple[Named, ...] = ()
    fallbacks: tuple[Type, ...] = ()
    method: str | None = None
    side: str | None = None
    tag_decides: bool = False
    """Whether fallbacks are tried only where the tag is missing or unknown."""
    variants: tuple[tuple[str, str], ...] = ()
    """Each class with the tags and titles that lead to it, joined by slashes; the class comes second."""


Definition = Struct | CatchAll | Enumeration | Identifier | Alias | Union


@dataclass(frozen=True, slots=True)
class Envelope:
    """The envelope of a request or notification: its method, and the type of its params if the schema defines one."""

    name: str
    pointer: str
    method: str
    params: str | None
    is_request: bool


class RoutingKind(Enum):
    """Which messages a routing definition lists."""

    REQUESTS = auto()
    NOTIFICATIONS = auto()
    RESPONSES = auto()
    PROTOCOL_LEVEL = auto()
    """Notifications that either side may send."""
    OUTGOING = auto()
    """Messages of every kind."""


@dataclass(frozen=True, slots=True)
class Routing:
    """One routing definition: the messages of one kind that `sender` sends; "protocol" means either side."""

    name: str
    pointer: str
    sender: str
    kind: RoutingKind
    envelopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol: the sides that handle its requests and its notifications, and the types it carries."""

    name: str
    key: str
    requests_handled_by: tuple[str, ...]
    notifications_handled_by: tuple[str, ...]
    request: str | None = None
    response: str | None = None
    notification: str | None = None

    @property
    def handled_by(self) -> tuple[str, ...]:
        """The sides that handle the method in any way."""
        return tuple(sorted({*self.requests_handled_by, *self.notifications_handled_by}))


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
class Coroutine:
    """A request or notification as emitted code sees it: one side sends it, and the other side handles it."""

    name: str
    method: str
    params: str
    envelope: str
    is_request: bool
    result: str | None = None
    """The type of the result; None for a notification, and for a request whose result the schema leaves open."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The coroutines of one side; it sends `$/cancel_request` too, but its connection handles that one itself."""

    side: str
    handles: tuple[Coroutine, ...]
    sends: tuple[Coroutine, ...]


@dataclass(frozen=True, slots=True)
class InitializePart:
    """The params or the result of `initialize`, with the fields in which a side describes itself."""

    type: str
    capabilities: Field
    capabilities_type: str
    info: Field
    info_type: str


@dataclass(frozen=True, slots=True)
class Handshake:
    """Both parts of `initialize`: the client sends the request, the agent answers with the response."""

    initialize: Coroutine
    request: InitializePart
    response: InitializePart


@dataclass(frozen=True, slots=True)
class FileService:
    """What a ready handler for files serves, and the `optional` fields of the params that it uses."""

    read: Coroutine
    write: Coroutine
    optional: frozenset[str]


@dataclass(frozen=True, slots=True)
class TerminalService:
    """What a ready handler for terminals serves, with which types, and the `optional` fields of params that it uses."""

    create: Coroutine
    kill: Coroutine
    output: Coroutine
    release: Coroutine
    wait: Coroutine
    id_type: str | None
    """The definition of terminal ids; None where they are plain text."""
    exit_status_type: str
    optional: frozenset[str]


@dataclass(frozen=True, slots=True)
class PermissionService:
    """The method that a ready handler for permissions serves, and the two outcomes that it answers with."""

    ask: Coroutine
    selected: str
    cancelled: str


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """How `session/cancel` ends a prompt turn at the agent: with `cancelled`, a member of the stop reason's type."""

    prompt: Coroutine
    cancel: Coroutine
    close: Coroutine | None
    stop_reason: Field
    stop_reason_type: str
    cancelled: str


@dataclass(frozen=True, slots=True)
class ClientTurn:
    """How `session/cancel` ends a prompt turn at the client: what it answers open permission requests with."""

    prompt: Coroutine
    cancel: Coroutine
    close: Coroutine | None
    permissions: PermissionService
    idle: tuple[Coroutine, tuple[str, ...]] | None
    """The notification that ends a turn and the classes of its update, where the prompt's response does not end it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """How a client opens new and earlier sessions, which params it sets, and which blocks its prompts are made of."""

    update: Coroutine
    new: Coroutine
    load: Coroutine | None
    resume: Coroutine | None
    replay: str | None
    block: str
    text: str
    link: str | None
    options: tuple[Field, ...]
    login: Coroutine | None
    auth_method: str | None


@dataclass(frozen=True, slots=True)
class Features:
    """What the emitted endpoints do beyond sending and handling messages; None where the schema lacks it."""

    agent: Endpoint
    client: Endpoint
    cancel_request: Coroutine | None
    handshake: Handshake | None
    agent_turn: AgentTurn | None
    client_turn: ClientTurn | None
    files: FileService | None
    terminals: TerminalService | None
    permissions: PermissionService | None
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A keyword that only describes the part of the schema at `pointer`.

    A definition, a field and a member bear the pointer of the part that they stand for.
    """

    pointer: str
    keyword: str
    value: Value


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
    request_id: str | None = None
    """The definition of the ids of requests."""
    error: str | None = None
    """The definition of the errors that refuse a request."""
    features: Features | None = None
    """None for a schema without messages, as early drafts were."""
    version: int = 1
    """The version of the protocol that `initialize` negotiates."""
    annotations: tuple[Annotation, ...] = ()
    """What the schema says in keywords that only describe."""

    def annotations_at(self, pointer: str) -> tuple[Annotation, ...]:
        """List the annotations of one part of the schema."""
        return tuple(a for a in self.annotations if a.pointer == pointer)
