"""Which capability names settle: tried on all that is known of the stored pins, as if all of it were new."""

import tomllib
from dataclasses import replace

import pytest

from generator.bump.propose import places_like, settled
from generator.model import Module
from generator.overrides import Overrides, overrides_of
from generator.source import load_single
from generator.tolerant import lower_what_can_be_read
from tests.generator.bumping import PINS

LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")
UNSAID = {"session/options#additionalDirectories"}
"""Needs that names settle and that the stored overrides lack; none is another one there."""


def _read(pin: str, label: str) -> tuple[Module, Overrides]:
    raw = tomllib.loads((PINS / pin / "overrides.toml").read_text(encoding="utf-8"))
    version, _, kind = label.partition("_")
    name = f"schema.{kind}.json" if kind else "schema.json"
    source = load_single(PINS / pin / version / name, label, PINS / pin / version / name.replace("schema", "meta"))
    found = lower_what_can_be_read(source, lambda s: overrides_of(s, raw))
    return found.module, found.overrides


@pytest.mark.parametrize("pin", sorted(p.name for p in PINS.iterdir()))
def test_names_settle_what_a_person_said(pin: str) -> None:
    count = 0
    for label in LABELS:
        module, overrides = _read(pin, label)
        nothing = replace(module, definitions=(), methods=(), needs=())
        said = {key: capability.path for key, capability in overrides.capabilities.items()}
        found = settled(module, nothing, module.methods)
        assert {key: path for key, path in found.items() if said.get(key) != path}.keys() <= UNSAID
        assert not UNSAID & said.keys()
        count += len(found.keys() & said.keys())
    assert count > 35, "and they settle much"


def test_what_is_not_new_is_not_settled() -> None:
    module, _ = _read("0fc18323a9fd", "v1_unstable")
    assert settled(module, module, module.methods) == {}
    # A new capability for a method that has done without it until now may be something else.
    had = replace(module, definitions=())
    assert not [key for key in settled(module, had, module.methods) if "#" not in key]


@pytest.mark.parametrize(
    ("pin", "label", "path", "places"),
    [
        ("0fc18323a9fd", "v1", "clientCapabilities.session.notices", ["session/update#update=notice"]),
        ("0fc18323a9fd", "v1_unstable", "clientCapabilities.subagents", ["session/update#update=subagent_update"]),
        ("0fc18323a9fd", "v2", "capabilities.session.prompt.audio", ["session/prompt#prompt=audio"]),
        ("0fc18323a9fd", "v1_unstable", "agentCapabilities.sessionCapabilities.telepathy", []),
    ],
)
def test_what_is_named_like_a_capability_is_proposed(pin: str, label: str, path: str, places: list[str]) -> None:
    assert places_like(path, _read(pin, label)[0]) == places
