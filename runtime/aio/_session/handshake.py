"""What the peers told each other in `initialize`: the version, and what each may ask of the other."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeGuard, TypeVar, cast

from msgspec import DecodeError, Struct, field, json

from ..._codec import convert
from ..._decode.malformed import BOM
from ..._rpc.encoding import to_builtins
from ..._types.portable import Portable

NEWEST = 2**16 - 1
"""The greatest number that a protocol version can have."""
Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")


class UnsupportedVersion(Portable, Exception):
    """The agent answered `initialize` with a protocol version that this schema does not speak.

    `answered` is that version, `spoken` are those of the schema. The protocol wants the client to disconnect.
    """

    def __init__(self, answered: int, spoken: tuple[int, ...]) -> None:
        """Keep both."""
        super().__init__(answered, spoken)
        self.answered = answered
        self.spoken = spoken

    def __str__(self) -> str:
        """Tell both."""
        own = ", ".join(map(str, self.spoken))
        return f"The agent speaks version {self.answered} of the protocol, this side speaks {own}"


class NotAdvertised(Portable, Exception):
    """A call was not sent, as the peer did not advertise what it needs; `force=True` sends it all the same.

    `method` is that of the call, `capability` the place in the peer's part of `initialize` that allows it, and `part`
    what in the params needs it, such as `mode url`; empty for the method itself.
    """

    def __init__(self, method: str, capability: str, part: str = "") -> None:
        """Keep what is missing; `part` says which part of the params needs it."""
        super().__init__(method, capability, part)
        self.method = method
        self.capability = capability
        self.part = part

    def __str__(self) -> str:
        """Tell what needs what."""
        what = f"{self.method} with {self.part}" if self.part else self.method
        return f"{what} needs {self.capability}, which the peer did not advertise in `initialize`"


INITIALIZE = "initialize"


class _Version(Struct):
    """Params or a result of `initialize`, of any version of the protocol."""

    protocol_version: Any = field(default=None, name="protocolVersion")


class _Initialize(Struct):
    params: _Version | None = None
    result: _Version | None = None


_INITIALIZE = json.Decoder(_Initialize)


def other_version(data: bytes, versions: tuple[int, ...]) -> int | None:
    """Give the protocol version that a request or a response of `initialize` names, unless it is one of `versions`."""
    try:
        message = _INITIALIZE.decode(data.removeprefix(BOM))
    except (DecodeError, RecursionError):
        return None
    told = message.params or message.result
    version = told.protocol_version if told is not None else None
    is_version = type(version) is int and 0 <= version <= NEWEST
    return version if is_version and version not in versions else None


class Handshake(Struct, Generic[Q, A], frozen=True):
    """The `initialize` of a connection: what the client sent, and what the agent answered."""

    request: Q
    response: A


class Need(Struct, frozen=True):
    """A method, or something in its params, and the capability that allows it."""

    method: str
    capability: str
    """The keys that lead to it in the handling side's part of `initialize`, joined by dots."""
    name: str = ""
    """The coroutine that handles the method; empty where the capability can be offered without it."""
    leaf: Any = None
    """What advertises it; None where that takes more than to say so."""
    group: bool = False
    """Whether the capability only groups others, so that an object without any of them advertises nothing."""
    field: str = ""
    """The field of the params that needs it where it is not empty; empty for the method itself."""
    value: str | None = None
    """The tag or value in that field that needs it; None for any."""

    def concerns(self, params: Any) -> bool:
        """Say whether these params need the capability."""
        if not self.field:
            return True
        found = getattr(params, self.field, None)
        if self.value is None:
            return bool(found)
        return any(map(self._is_value, found)) if _is_list(found) else self._is_value(found)

    def _is_value(self, item: Any) -> bool:
        config = getattr(item, "__struct_config__", None)
        return bool(item == self.value if config is None else config.tag == self.value)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


class Gate:
    """Keeps from the peer what it did not advertise."""

    __slots__ = ("_refused",)

    def __init__(self, needs: Iterable[Need], told: Any) -> None:
        """Compare what methods need with what the peer told in `initialize`."""
        plain = to_builtins(told)
        self._refused: dict[str, list[Need]] = {}
        for need in sorted(needs, key=lambda n: n.group):  # what is in a group says more than the group
            if not _is_advertised(plain, need):
                self._refused.setdefault(need.method, []).append(need)

    def check(self, method: str, params: Any) -> None:
        """Raise `NotAdvertised` for what the peer did not advertise."""
        for need in self._refused.get(method, ()):
            if need.concerns(params):
                part = f"{need.field} {need.value or ''}".strip()
                raise NotAdvertised(method, need.capability, part)


def _is_advertised(told: Any, need: Need) -> bool:
    place: Any = told
    for key in need.capability.split("."):
        place = cast("dict[str, Any]", place).get(key) if isinstance(place, dict) else None
        if _is_nothing(place):
            return False
    if not need.group or not isinstance(place, dict):
        return True
    inside = cast("dict[str, Any]", place)
    return any(key != "_meta" and not _is_nothing(value) for key, value in inside.items())


def _is_nothing(value: object) -> bool:
    return value is None or value is False or value == []


def settled(asked: int, spoken: tuple[int, ...]) -> int:
    """Give the version that an agent answers with: the client's where it is spoken, else the newest one."""
    return asked if asked in spoken else max(spoken)


def is_overridden(handler: object, base: type | None, name: str) -> bool:
    """Say whether an object has a method of its own where its base class has one that only refuses."""
    found = getattr(handler, name, None)
    return found is not None and getattr(found, "__func__", found) is not getattr(base, name, None)


def offered(supports: Callable[[str], bool], needs: Iterable[Need], key: str, kind: type[T]) -> T:
    """Make the capabilities that a handler's methods amount to; `key` is where they stand in `initialize`.

    A capability is offered where every method that needs it is supported, and every capability around it is offered,
    as it could not be without them.
    """
    wanted: dict[str, list[Need]] = {}
    for need in needs:
        if need.name and need.leaf is not None and need.capability.startswith(f"{key}."):
            wanted.setdefault(need.capability, []).append(need)
    lacking = {capability for capability, by in wanted.items() if not all(supports(need.name) for need in by)}
    tree: dict[str, Any] = {}
    for capability, by in wanted.items():
        if not any(f"{capability}.".startswith(f"{other}.") for other in lacking):
            *parents, last = capability.split(".")[1:]
            place = tree
            for parent in parents:
                place = place.setdefault(parent, {})
            place.setdefault(last, by[0].leaf if by[0].leaf is True else {})
    return convert(tree, type=kind)


def described(handler: object, kind: Callable[..., T]) -> T:
    """Make the name and version of somebody who gave none, of the handler's class."""
    return kind(name="acp-msgspec" if handler is None else type(handler).__name__, version="0")
