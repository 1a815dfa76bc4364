"""The handshake: the negotiated version, the capabilities of a handler, and what the peer's capabilities allow."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from ..._codec import convert
from ..._rpc.encoding import to_builtins
from ..._types.portable import Portable
from .._engine.endpoint import Need

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")


class NotAdvertised(Portable, Exception):
    """A call was not sent because the peer did not advertise what it needs; `force=True` sends it all the same.

    `method` is that of the call, `capability` is the path in the peer's part of `initialize` that allows it, and `part`
    is what in the params needs it, such as `mode url`; empty for the method itself.
    """

    def __init__(self, method: str, capability: str, part: str = "") -> None:
        """Store the missing capability; `part` says which part of the params needs it."""
        super().__init__(method, capability, part)
        self.method = method
        self.capability = capability
        self.part = part

    def __str__(self) -> str:
        """Name the method and the missing capability."""
        what = f"{self.method} with {self.part}" if self.part else self.method
        return f"{what} needs {self.capability}, which the peer did not advertise in `initialize`"


class Handshake(Struct, Generic[Q, A], frozen=True):
    """The `initialize` of a connection: what the client sent, and what the agent answered."""

    request: Q
    response: A


class Gate:
    """Refuses to send what the peer did not advertise."""

    __slots__ = ("_by_class", "_refused")

    def __init__(self, needs: Iterable[Need], advertised: Any) -> None:
        """Find the capabilities that methods need and that are not `advertised` in the peer's part of `initialize`."""
        plain = to_builtins(advertised)
        self._refused: dict[str, list[Need]] = {}
        for need in sorted(needs, key=lambda n: n.group):  # a member of a group is reported rather than the group
            if not _is_advertised(plain, need):
                self._refused.setdefault(need.method, []).append(need)
        self._by_class: dict[str, tuple[str, set[type]]] = {}
        """The methods of which only the class of one field decides, with the classes that were let through."""
        for method, refused in self._refused.items():
            fields = {need.field for need in refused}
            if len(fields) == 1 and fields != {""} and all(need.value is not None for need in refused):
                self._by_class[method] = fields.pop(), set()

    def check(self, method: str, params: Any) -> None:
        """Raise `NotAdvertised` if the peer did not advertise the method or something in its params."""
        by_class = self._by_class.get(method)
        if by_class is None:
            self._check_each(method, params)
            return
        value = getattr(params, by_class[0], None)
        if value.__class__ not in by_class[1]:
            self._check_each(method, params)
            if isinstance(value, Struct):  # the tag of which belongs to its class
                by_class[1].add(value.__class__)

    def _check_each(self, method: str, params: Any) -> None:
        for need in self._refused.get(method, ()):
            if need.applies_to(params):
                part = f"{need.field} {need.value or ''}".strip()
                raise NotAdvertised(method, need.capability, part)


def _is_advertised(advertised: Any, need: Need) -> bool:
    place: Any = advertised
    for key in need.capability.split("."):
        place = cast("dict[str, Any]", place).get(key) if isinstance(place, dict) else None
        if _means_absent(place):
            return False
    if not need.group or not isinstance(place, dict):
        return True
    members = cast("dict[str, Any]", place)
    return any(key != "_meta" and not _means_absent(value) for key, value in members.items())


def _means_absent(value: object) -> bool:
    return value is None or value is False or value == []


def negotiated_version(requested: int, supported: tuple[int, ...]) -> int:
    """Return the version that an agent answers with: the client's if it is supported, else the newest one."""
    return requested if requested in supported else max(supported)


def derived_capabilities(supports: Callable[[str], bool], needs: Iterable[Need], key: str, kind: type[T]) -> T:
    """Derive the capabilities of a handler from its methods; `key` is where they stand in `initialize`.

    A capability is advertised if every method that needs it is supported and every capability around it is advertised.
    """
    needed_by: dict[str, list[Need]] = {}
    for need in needs:
        if need.name and need.leaf is not None and need.capability.startswith(f"{key}."):
            needed_by.setdefault(need.capability, []).append(need)
    unsupported = {capability for capability, by in needed_by.items() if not all(supports(need.name) for need in by)}
    capabilities: dict[str, Any] = {}
    for capability, by in needed_by.items():
        if not any(f"{capability}.".startswith(f"{other}.") for other in unsupported):
            *parents, last = capability.split(".")[1:]
            place = capabilities
            for parent in parents:
                place = place.setdefault(parent, {})
            place.setdefault(last, by[0].leaf if by[0].leaf is True else {})
    return convert(capabilities, type=kind)


def default_info(handler: object, kind: Callable[..., T]) -> T:
    """Return the name and version of a handler that has none: those of its class."""
    return kind(name="acp-msgspec" if handler is None else type(handler).__name__, version="0")
