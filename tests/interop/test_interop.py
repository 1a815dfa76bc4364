"""Our client with the agents of other SDKs, and our agent with their clients, as processes, feature by feature."""

import asyncio
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.docs.support import missing
from tests.interop import install, table
from tests.interop.agents import AGENTS
from tests.interop.columns import COLUMNS, Column, seen_by_client
from tests.interop.notes import NOTES, verdict
from tests.interop.scenario import FEATURES, method_of
from tests.support import REFRESH, golden, made_once

NAMES = [column.name for column in COLUMNS]


Seen = Callable[[Column], dict[str, Any]]


@pytest.fixture
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Give what a pair of ends does, which is tried once."""
    if not install.is_installed():
        missing("The SDKs of others are not installed (make interop)")

    def seen_by(column: Column) -> dict[str, Any]:
        def make(folder: Path) -> None:
            found = asyncio.run(seen_by_client(column))
            (folder / "seen").write_bytes(pickle.dumps(found))

        folder = made_once(tmp_path_factory, f"interop-{NAMES.index(column.name)}", make)
        found: dict[str, Any] = pickle.loads((folder / "seen").read_bytes())
        return found

    return seen_by


@pytest.mark.parametrize("column", COLUMNS, ids=NAMES)
@pytest.mark.network
def test_pair(seen: Seen, column: Column) -> None:
    found = seen(column)
    assert list(found) == list(FEATURES)
    wrong: list[str] = []
    for feature in FEATURES:
        try:
            verdict(column, feature, found[feature])
        except AssertionError as why:
            wrong.append(str(why))
    assert not wrong, "\n".join(wrong)


@pytest.mark.network
def test_results_are_those_recorded(seen: Seen) -> None:
    found = {column.name: seen(column) for column in COLUMNS}
    features = {
        feature: {column.name: verdict(column, feature, found[column.name][feature]) for column in COLUMNS}
        for feature in FEATURES
    }
    golden(table.RESULTS, table.as_json({"versions": table.versions(), "features": features}))


def test_page_shows_what_is_recorded() -> None:
    results = json.loads(table.RESULTS.read_text(encoding="utf-8"))
    agents = json.loads(table.AGENTS.read_text(encoding="utf-8"))
    page = table.PAGE.read_text(encoding="utf-8")
    filled = table.fill(page, "conformance", table.conformance(results))
    filled = table.fill(filled, "agents", table.agents(agents))
    if os.environ.get(REFRESH):
        table.PAGE.write_text(filled, encoding="utf-8")
    assert filled == table.PAGE.read_text(encoding="utf-8"), f"{table.PAGE} differs: run with {REFRESH}=1"
    for name, version in results["versions"].items():
        assert version == table.versions()[name]
        assert f"`{version.replace(' ', '` ')}" in filled


def test_all_agents_were_tried() -> None:
    recorded = json.loads(table.AGENTS.read_text(encoding="utf-8"))
    assert [(a["package"], a["version"]) for a in recorded] == [(a.package, a.version) for a in AGENTS]
    assert sum(a.get("steps", {}).get("initialize", "").startswith("ok") for a in recorded) >= 5


def test_every_note_is_about_something() -> None:
    for note in NOTES:
        assert any(note.is_about(column, feature) for column in COLUMNS for feature in FEATURES), note


def test_features_have_methods_of_their_own() -> None:
    assert len({method_of(feature) for feature in FEATURES}) == len(FEATURES)
