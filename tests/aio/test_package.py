"""What `acp_msgspec.aio` and the emitted ends consist of, and what importing them costs."""

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, state, v1, v1_unstable, v2, v2_unstable
from acp_msgspec.v1 import aio as v1_aio
from acp_msgspec.v1 import conversation as v1_conversation
from acp_msgspec.v1_unstable import aio as v1_unstable_aio
from acp_msgspec.v2 import aio as v2_aio
from acp_msgspec.v2_unstable import aio as v2_unstable_aio

from generator.errors import GeneratorError
from generator.names import CONNECTION_NAMES, method_names
from tests.oracle.schema_walk import Schema
from tests.support import ROOT, generate_case
from tests.tools.vendor_support import CLI

ENDS = {"v1": v1_aio, "v1_unstable": v1_unstable_aio, "v2": v2_aio, "v2_unstable": v2_unstable_aio}
NAMES = (
    "Agent",
    "AgentConnection",
    "Client",
    "ClientConnection",
    "DecidesPermissions",
    "ServesFiles",
    "ServesTerminals",
)
CONVERSATION = ("Change", "ClientSession", "ConnectedAgent", "connect")
ALIASES = {"Decide", "AnyChange", "Change", "Decision", "Target"}
"""Names of types that have no docstring of their own."""


def python(code: str, path: Path = ROOT / "generated") -> str:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.stderr == ""
    return ran.stdout


def test_types_alone_load_no_event_loop() -> None:
    seen = python(
        "import sys\nfrom acp_msgspec import v1\n"
        "print([n for n in sys.modules if n in ('asyncio', 'ssl', 'acp_msgspec.aio')])"
    )
    assert seen == "[]\n"


def test_the_stable_ends_come_when_asked_for() -> None:
    seen = python(
        "import sys\nfrom acp_msgspec import aio\n"
        "print([n for n in sys.modules if n in ('websockets', 'acp_msgspec.v1')])\n"
        "print(aio.AgentConnection.__module__, 'AgentConnection' in vars(aio), 'acp_msgspec.v1.aio' in sys.modules)"
    )
    assert seen == "[]\nacp_msgspec.v1.aio True True\n"
    nobody = "Nobody"
    for name in NAMES:
        assert getattr(aio, name) is getattr(v1_aio, name)
    with pytest.raises(AttributeError, match=r"module 'acp_msgspec\.aio' has no attribute 'Nobody'"):
        getattr(aio, nobody)
    for name in CONVERSATION:
        assert getattr(aio, name) is getattr(v1_conversation, name)
    for name in aio.__all__:
        assert name in ALIASES or getattr(aio, name).__doc__


def test_what_is_listed_is_there_and_what_is_there_is_listed() -> None:
    seen = python(
        "import sys\nfrom acp_msgspec import aio\n"
        "names = dir(aio)\n"
        "print(sorted(set(aio.__all__) - set(names)), 'acp_msgspec.v1' in sys.modules, names == sorted(set(names)))\n"
        "print([n for n in names if not hasattr(aio, n)], set(names) <= set(dir(aio)))"
    )
    assert seen == "[] False True\n[] True\n"
    modules: list[Any] = [acp, aio, state, *ENDS.values(), v1, v1_unstable, v2, v2_unstable]
    for module in modules:
        assert set(getattr(module, "__all__", ())) <= set(dir(module))
        assert all(hasattr(module, name) for name in dir(module))


@pytest.mark.slow
def test_a_copy_without_the_stable_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CLI.main(["vendor", "copied", "--only", "v2", "--parts", "aio"]) == 0
    seen = python(
        "from copied import aio\nfrom copied.v2.aio import AgentConnection\n"
        "print(AgentConnection.__module__, 'AgentConnection' in dir(aio), 'Connection' in dir(aio))\n"
        "try:\n    aio.AgentConnection\n"
        "except AttributeError as why:\n    print(why)\n",
        tmp_path,
    )
    assert seen == (
        "copied.v2.aio False True\n"
        "module 'copied.aio' has no 'AgentConnection', since this copy lacks the schema v1; "
        "import it from another schema, as in `from copied.v2.aio import AgentConnection`\n"
    )


@pytest.mark.slow
def test_a_package_without_the_stable_schema_names_no_endpoints(tmp_path: Path) -> None:
    generate_case(ROOT / "tests" / "cases" / "shapes" / "messages" / "schema.json", "case", tmp_path)
    text = (tmp_path / "acp_msgspec" / "aio" / "__init__.py").read_text(encoding="utf-8")
    assert '"Agent"' not in text.partition("_MODULES")[2]
    seen = python(
        "from acp_msgspec import aio\nfrom acp_msgspec.case.aio import Agent\n"
        "print(hasattr(aio, 'Agent'), Agent.__name__)",
        tmp_path,
    )
    assert seen == "False Agent\n"


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def coroutines_of(label: str, meta: dict[str, Any], table: str) -> dict[str, str]:
    """Name the coroutines for what one side handles: a method that is also a request has another for the notification.

    The keys of the table say which methods a side has at all, its messages which kinds of them.
    """
    schema = Schema(label)
    calls = [call for routing in schema.routings if not routing.startswith("Proxy") for call in schema.calls(routing)]
    requests = {call.method for call in calls if call.kind == "request"}
    side = table.removesuffix("Methods")
    found: dict[str, str] = {}
    for key, method in meta[table].items():
        for call in calls:
            if call.method == method and side in call.sides and call.kind != "response":
                beside = call.kind == "notification" and method in requests
                found[f"{key}_notification" if beside else key] = method
    assert set(found.values()) == set(meta[table].values())
    return found


@pytest.mark.parametrize("label", list(ENDS))
def test_every_method_has_its_coroutines(label: str) -> None:
    version, _, unstable = label.partition("_")
    name = "meta.unstable.json" if unstable else "meta.json"
    meta: dict[str, Any] = json.loads((ROOT / "schema" / version / name).read_text(encoding="utf-8"))
    module: Any = ENDS[label]
    for table, handler, caller in (
        ("agentMethods", module.Agent, module.ClientConnection),
        ("clientMethods", module.Client, module.AgentConnection),
    ):
        coroutines = coroutines_of(label, meta, table)
        hooks = {"extension_request", "extension_notification", "capabilities", "connection_closed", "info", "supports"}
        if version == "v1":
            hooks |= {"cancels_turns"}
        own = hooks if handler is module.Agent else hooks - {"cancels_turns"}
        assert public(handler) == coroutines.keys() | own
        ours = {"cancel_request", "handshake", "side", *(["negotiate"] if caller is module.ClientConnection else [])}
        assert public(caller) == coroutines.keys() | ours
        for key, name in coroutines.items():
            for kind in (handler, caller):
                assert inspect.iscoroutinefunction(getattr(kind, key))
                assert f"[{name}]" in getattr(kind, key).__doc__
        named = {*caller.side.requests.values(), *caller.side.notifications.values()}
        other = module.Client if handler is module.Agent else module.Agent
        assert named == public(other) - hooks


def test_names_that_methods_cannot_have() -> None:
    own = {n for n in dir(aio.Connection) if not n.startswith("_")} | {"extension_request", "extension_notification"}
    own |= {n for n in (*vars(v1_aio.Agent), *vars(v1_aio.Client)) if n in CONNECTION_NAMES}
    own |= {"files", "permissions", "terminals"}  # of ready handlers
    assert own | {"handler", "handshake", "negotiate", "transport", "side"} == CONNECTION_NAMES
    for key in ("close", "session_close"):
        with pytest.raises(
            GeneratorError, match=f"the method '{key}' cannot have the Python name {key}, which is taken"
        ):
            method_names([("session_close", True, False), (key, True, False)], "meta.json")
    with pytest.raises(GeneratorError, match="mcp_message_notification, which is taken"):
        method_names([("mcp_message", True, True), ("mcp_message_notification", True, False)], "meta.json")
    assert method_names([("a/b-c", True, True)], "") == {
        ("a/b-c", True): "a_b_c",
        ("a/b-c", False): "a_b_c_notification",
    }


def test_the_former_name_of_a_kind_of_problem() -> None:
    assert aio.ProblemKind["UNFIT"] is aio.ProblemKind.MISMATCH
    assert [kind.name for kind in aio.ProblemKind].count("UNFIT") == 0
