"""Features: what the endpoints of a schema do is found by methods and shapes, not by the names of definitions."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from generator.model import Features
from generator.pipeline import generate_single, load_module
from generator.source import load_single
from tests.support import ROOT, generate_case, imported

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
