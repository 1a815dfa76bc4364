"""Features: what the endpoints of a schema do is found by methods and shapes, not by the names of definitions."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from generator.explain import explain
from generator.model import Features
from generator.pipeline import generate_single, load_module
from generator.source import load_single
from generator.values import to_json
from tests.support import CASES, ROOT, generate_case, imported

PINS = sorted(p.name for p in (CASES / "pins").iterdir())
RENAMED = {
    "AgentCapabilities": "WhatAgentsDo",
    "ClientCapabilities": "WhatClientsDo",
    "Implementation": "Who",
    "TerminalId": "Tty",
    "TerminalExitStatus": "HowItEnded",
    "RequestId": "Number",
    "Error": "Refusal",
    "StopReason": "Why",
}


def _schema(folder: Path, names: dict[str, str], label: str = "v1") -> Path:
    """Store a pinned schema with other names of definitions."""
    text = (ROOT / "schema" / label / "schema.json").read_text(encoding="utf-8")
    for old, new in names.items():
        text = text.replace(f'"#/$defs/{old}"', f'"#/$defs/{new}"').replace(f'    "{old}": {{', f'    "{new}": {{')
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.json").write_text(text, encoding="utf-8")
    return folder / "schema.json"


def _features(path: Path, meta: Path | None = None) -> Features:
    found = load_module(load_single(path, "case", meta)).features
    assert found is not None
    return found


def _without_names(features: Features) -> str:
    text = repr(features)
    for old, new in RENAMED.items():
        text = text.replace(f"'{new}'", f"'{old}'").replace(f"/{new}/", f"/{old}/")
    return text


@pytest.mark.parametrize("label", ["v1", "v2"])
@pytest.mark.slow
def test_the_names_of_definitions_do_not_matter(label: str, tmp_path: Path) -> None:
    names = {k: v for k, v in RENAMED.items() if label == "v1" or not k.startswith("Terminal")}
    plain, renamed = _schema(tmp_path / "a", {}, label=label), _schema(tmp_path / "b", names, label=label)
    assert _without_names(_features(renamed)) == repr(_features(plain))
    module = load_module(load_single(renamed, "case", None))
    assert (module.request_id, module.error) == ("Number", "Refusal")


@pytest.mark.slow
def test_each_version_has_its_features(tmp_path: Path) -> None:
    v1, v2 = _features(_schema(tmp_path, {})), _features(_schema(tmp_path, {}, label="v2"))
    assert None not in (v1.handshake, v1.agent_turn, v1.files, v1.terminals, v1.permissions)
    assert None not in (v2.handshake, v2.permissions)
    assert (v2.agent_turn, v2.files, v2.terminals) == (None, None, None)
    assert v1.client_turn is not None
    assert v1.client_turn.idle is None
    assert v2.client_turn is not None
    assert v2.client_turn.idle is not None
    assert "StateUpdateIdle" in repr(v2.client_turn.idle)


@pytest.mark.slow
def test_a_turn_names_coroutines_and_not_keys_of_the_meta_file(tmp_path: Path) -> None:
    meta: dict[str, Any] = json.loads((ROOT / "schema" / "v1" / "meta.json").read_text(encoding="utf-8"))
    agent = {k: m for k, m in meta["agentMethods"].items() if m != "session/prompt"}
    meta["agentMethods"] = {**agent, "sessionPrompt": "session/prompt"}
    (tmp_path / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    made = generate_single(_schema(tmp_path, {}), "case", tmp_path / "meta.json", lambda _: None, tmp_path)
    text = made.files["acp_msgspec/case/aio.py"]
    assert "sessionPrompt" not in text
    assert "async def session_prompt(self, params: PromptRequest, /)" in text
    assert '"session_prompt",\n            "session_cancel",' in text


@pytest.mark.slow
def test_terminal_ids_may_be_plain_text(tmp_path: Path) -> None:
    """The schemas of 2025 had no definition for them."""
    path = _schema(tmp_path, {})
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for definition in schema["$defs"].values():
        if "terminalId" in definition.get("properties", {}):
            definition["properties"]["terminalId"] = {"type": "string"}
    path.write_text(json.dumps(schema), encoding="utf-8")
    texts = generate_case(path, "case", tmp_path)
    assert "return CreateTerminalResponse(terminal_id=made)" in texts["aio.py"]
    assert "TerminalId(" not in texts["aio.py"]
    with imported(tmp_path, "case", "plain_ids") as (package, _):
        aio = importlib.import_module(f"{package.__name__}.case.aio")
        assert issubclass(aio.ServesTerminals, aio.Client)


@pytest.mark.parametrize("commit", PINS)
@pytest.mark.slow
def test_every_commit_has_the_same_features(commit: str) -> None:
    """Upstream moves and narrows types between commits; what the endpoints do does not depend on that."""
    folder = CASES / "pins" / commit
    for label in ("v1", "v2"):
        for name in ("schema.json", "schema.unstable.json"):
            found = _features(folder / label / name)
            assert None not in (found.cancel_request, found.handshake, found.permissions, found.client_turn)
            turn = found.client_turn
            assert turn is not None
            assert turn.close is not None
            if label == "v1":
                assert None not in (found.agent_turn, found.files, found.terminals)
                assert turn.idle is None
            else:
                assert turn.idle is not None
                assert all("Idle" in name for name in turn.idle[1])


@pytest.mark.slow
def test_all_variants_of_the_idle_state_end_a_turn(tmp_path: Path) -> None:
    """The reason is the tag of a union inside the state's, so that there is a class for each."""
    path = CASES / "pins" / "c0945895a632" / "v2" / "schema.json"
    found = _features(path).client_turn
    assert found is not None
    assert found.idle is not None
    reasons = json.loads(path.read_text(encoding="utf-8"))["$defs"]["IdleStateUpdate"]["anyOf"]
    assert len(found.idle[1]) == len(reasons) > 1


@pytest.mark.slow
def test_ready_handlers_use_what_a_schema_has(tmp_path: Path) -> None:
    path = _schema(tmp_path, {})
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for name, keys in (("ReadTextFileRequest", ["limit"]), ("CreateTerminalRequest", ["cwd", "env", "args"])):
        for key in keys:
            del schema["$defs"][name]["properties"][key]
    path.write_text(json.dumps(schema), encoding="utf-8")
    text = generate_case(path, "case", tmp_path)["aio.py"]
    assert "content = await self.files.read(params.path, line=params.line)" in text
    with imported(tmp_path, "case", "fewer_fields") as (package, _):
        aio = importlib.import_module(f"{package.__name__}.case.aio")
        assert issubclass(aio.ServesFiles, aio.Client)
        assert issubclass(aio.ServesTerminals, aio.Client)
    features = _features(path)
    assert features.files is not None
    assert features.files.optional == {"line"}
    assert features.terminals is not None
    assert features.terminals.optional == {"output_byte_limit"}


def test_a_method_may_be_a_request_one_way_and_a_notification_the_other(tmp_path: Path) -> None:
    generate_case(CASES / "shapes" / "directions" / "schema.json", "case", tmp_path)
    with imported(tmp_path, "case", "directions") as (package, case):
        relay = case.METHODS["relay/message"]
        assert relay.handled_by == {"agent", "client"}
        assert (relay.requests_handled_by, relay.notifications_handled_by) == ({"client"}, {"agent"})
        ping = case.METHODS["ping"]
        assert (ping.requests_handled_by, ping.notifications_handled_by) == ({"agent"}, frozenset())
        aio = importlib.import_module(f"{package.__name__}.case.aio")
        for owner, here, there in (
            (aio.Client, "relay_message", "relay_message_notification"),
            (aio.AgentConnection, "relay_message", "relay_message_notification"),
            (aio.Agent, "relay_message_notification", "relay_message"),
            (aio.ClientConnection, "relay_message_notification", "relay_message"),
        ):
            assert hasattr(owner, here)
            assert not hasattr(owner, there)
        notification = package.encode(case.notification(case.RelayNotification(method="m")))
        assert case.decode_client_message(notification).params.method == "m"
        with pytest.raises(package.MessageError, match="without an id"):
            case.decode_agent_message(notification)


def test_annotations_are_carried() -> None:
    path = CASES / "shapes" / "annotations" / "schema.json"
    module = load_module(load_single(path, "case", None))
    found = {(a.pointer, a.keyword): to_json(a.value) for a in module.annotations}
    assert found["/$defs/Old", "deprecated"] is True
    assert found["/$defs/Old", "x-scope"] == {"session": ["name"]}
    assert found["/$defs/Old/properties/name", "examples"] == ["a", "b"]
    assert found["/$defs/Old/properties/size", "x-unit"] == "byte"
    assert found["/$defs/Kind/anyOf/0", "deprecated"] is True
    assert found["/$defs/Picture", "contentMediaType"] == "image/png"
    # Whatever the schema says of a definition, a field or a member is found under its pointer.
    old = next(d for d in module.definitions if d.name == "Old")
    assert [a.keyword for a in module.annotations_at(old.pointer)] == ["deprecated", "x-scope"]
    assert all("description" not in keyword for _, keyword in found)


def test_annotations_are_explained() -> None:
    source = load_single(CASES / "shapes" / "annotations" / "schema.json", "case", None)
    old, kind = explain(source, "Old"), explain(source, "Kind")
    assert ("annotations", 'deprecated = true, x-scope = {"session": ["name"]}') in old.details
    notes = {field[1]: field[3] for field in old.fields}
    told = 'annotated deprecated = true, examples = ["a", "b"], $comment = "c", readOnly = true'
    assert notes["name"].endswith(told)
    assert notes["size"].endswith('annotated writeOnly = true, x-unit = "byte"')
    assert ("annotations", 'A: title = "A", deprecated = true') in kind.details
