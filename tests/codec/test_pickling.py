"""Errors and objects survive pickle and copy: other processes, logs and caches get what was there."""

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import Any

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import aio, v1

from tests.oracle.instances import Maker, Style
from tests.oracle.schema_files import LABELS
from tests.oracle.schema_parts import ROUTING
from tests.oracle.schema_walk import Schema
from tests.support import check_each

WAYS: list[Callable[[Any], Any]] = [
    *[lambda o, p=p: pickle.loads(pickle.dumps(o, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)],
    copy.copy,
    copy.deepcopy,
]
ERROR = v1.error_response(1, acp.InvalidParams(data={"k": [1]}))


class OwnError(acp.RequestError):
    """An error of a user, with a constructor of its own."""

    code = -31999
    default_message = "Own"

    def __init__(self, first: int, *, second: str) -> None:
        super().__init__(f"{first} and {second}", {"first": first})
        self.second = second


class OwnMessageError(acp.MessageError):
    """The same for another base."""

    def __init__(self, first: int) -> None:
        super().__init__("own", id=first, path="$.a")


class OwnFixed(acp.RequestError):
    """One whose constructor takes nothing."""

    def __init__(self) -> None:
        super().__init__("fixed")


class OwnClosed(aio.ConnectionClosed):
    """The end of a connection, as a user tells it."""

    def __init__(self, first: int, *, second: str) -> None:
        super().__init__(f"{first} and {second}", 3)
        self.second = second


class OwnVersion(aio.UnsupportedVersion):
    """A version that a user does not want."""

    def __init__(self, *, second: str) -> None:
        super().__init__(3, (1,))
        self.second = second


class OwnNotAdvertised(aio.NotAdvertised):
    """A capability of a user's own."""

    def __init__(self) -> None:
        super().__init__("_own", "_meta.own")


def _batch_error() -> acp.MessageError:
    try:
        v1.decode_client_batch('[{"jsonrpc":"2.0","id":1,"method":"logout"},{"jsonrpc":"2.0","id":2,"method":"x"}]')
    except acp.MessageError as why:
        return why
    raise AssertionError("not refused")


EXAMPLES: list[BaseException] = [
    acp.RequestError(),
    acp.RequestError("m", {"k": [1, None]}, code=7),
    acp.RequestError("m", "x" * 1000),
    *[c("own text", [1]) for c in acp.RequestError.__subclasses__() if c.__module__.startswith("acp_msgspec")],
    *[c() for c in acp.RequestError.__subclasses__() if c.__module__.startswith("acp_msgspec")],
    acp.MessageError("plain"),
    acp.MessageError("m", id=1, method="x", code=-32602, path="$.a[0]", reply=ERROR, batch=[ERROR]),
    _batch_error(),
    acp.LineTooLong(10, [b"a"], [b"start"]),
    aio.MessageTooLong(10, b"start"),
    importlib.import_module("acp_msgspec._decode.paths").Mismatch("m", ("a", 0)),
    importlib.import_module("acp_msgspec.tools.vendor").VendorError("m", ["a", "b"]),
    importlib.import_module("acp_msgspec.tools.inspect.page").PageError("m"),
    importlib.import_module("acp_msgspec.tools.inspect.extraction").NoMessage("m"),
    importlib.import_module("acp_msgspec.tools.inspect.command").InspectError("m"),
    importlib.import_module("acp_msgspec.aio._services.errors").FileRefused("m"),
    importlib.import_module("acp_msgspec.aio._engine.requests").ResultMismatch("m"),
    importlib.import_module("acp_msgspec.aio._engine.backpressure").StuckError("m"),
    aio.ConnectionClosed("m", -9),
    importlib.import_module("acp_msgspec.aio._engine.backpressure").StuckError("m"),
    aio.UnsupportedVersion(7, (1, 2)),
    aio.NotAdvertised("session/load", "loadSession", "part"),
    aio.RulesError("rules.toml: no rule"),
    OwnClosed(1, second="b"),
    OwnVersion(second="b"),
    OwnNotAdvertised(),
    OwnError(1, second="b"),
    OwnMessageError(5),
    OwnFixed(),
]


def _known(error: BaseException) -> dict[str, Any]:
    known = dict(error.__dict__)
    batch = known.pop("batch", None)
    return known | {"batch": None if batch is None else [str(b) if isinstance(b, Exception) else b for b in batch]}


@pytest.mark.parametrize("way", WAYS)
def test_errors(way: Callable[[Any], Any]) -> None:
    def survives(error: BaseException) -> None:
        again = way(error)
        assert type(again) is type(error)
        assert (str(again), again.args, repr(again)) == (str(error), error.args, repr(error))
        assert _known(again) == _known(error)
        assert way(again).args == error.args

    check_each(EXAMPLES, survives)


@pytest.mark.parametrize("way", WAYS)
def test_notes_and_other_attributes(way: Callable[[Any], Any]) -> None:
    error: Any = acp.InvalidParams("m")
    error.add_note("seen at night")
    error.seen = [1]
    again = way(error)
    assert (again.__notes__, again.seen) == (["seen at night"], [1])


def test_every_error_of_the_package_has_an_example() -> None:
    package = importlib.import_module("acp_msgspec")
    found: set[type[BaseException]] = set()
    for info in pkgutil.walk_packages(package.__path__, "acp_msgspec."):
        if info.name.endswith(("__main__", "_websocket")):
            continue
        module: ModuleType = importlib.import_module(info.name)
        found |= {
            c
            for _, c in inspect.getmembers(module, inspect.isclass)
            # Those with an underscore never leave their modules.
            if issubclass(c, BaseException) and c.__module__ == info.name and not c.__name__.startswith("_")
        }
    assert found <= {type(e) for e in EXAMPLES}


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.slow
def test_objects(label: str) -> None:
    module = importlib.import_module(f"acp_msgspec.{label}")
    for style in (Style.MINIMAL, Style.MAXIMAL):
        made = Maker(Schema(label), style)
        for key in Schema(label).defs:
            if key in ROUTING:
                continue
            for given, _ in made.pairs(key):
                value = acp.convert(given, type=getattr(module, key))
                for way in (WAYS[0], WAYS[2], WAYS[-3], copy.deepcopy, copy.copy):
                    again = way(value)
                    assert type(again) is type(value)
                    assert again == value
                    assert acp.encode(again) == acp.encode(value)


@pytest.mark.parametrize("way", WAYS)
def test_messages_and_what_is_kept(way: Callable[[Any], Any]) -> None:
    objects: list[Any] = [
        v1.request(1, v1.LogoutRequest()),
        v1.notification(v1.CancelNotification(session_id=v1.SessionId("s"))),
        v1.response(1, v1.PromptResponse(stop_reason=v1.StopReason.END_TURN)),
        ERROR,
        v1.extension_request(1, "_x", {"a": 1}),
        acp.UnknownVariant("type", "z", {"type": "z", "k": [1]}),
        acp.decode('[{"type":"z","k":1}]', type=list[v1.ContentBlock], unknown="keep"),
        acp.Skipped("$.a", {"k": 1}, "m", "default"),
        v1.METHODS["logout"],
        v1.Error(code=v1.ErrorCode(-5), message="m"),
        msgspec.UNSET,
    ]
    for value in objects:
        again = way(value)
        assert type(again) is type(value)
        if not isinstance(value, v1.ExtensionRequest):  # raw JSON does not compare
            assert again == value
        if not isinstance(value, acp.Skipped | acp.Method) and value is not msgspec.UNSET:
            assert acp.encode(again) == acp.encode(value)
