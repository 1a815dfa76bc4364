"""A project in a temporary folder, pinned to one of the stored pins, with made-up docstrings: what a bump works on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

from generator import api
from generator.bump import Options, Plan, plan
from generator.bump.emission import emit
from generator.docs import FOLDER
from generator.overrides import FILE, STABLE_OF, load_overrides
from generator.pin import pin
from generator.pipeline import generate_pinned
from generator.source import load_pinned
from generator.tolerant import lower_what_can_be_read
from tests.support import CASES

PINS = CASES / "pins"
FIRST, SECOND, THIRD = "788fdeda3adf", "0fc18323a9fd", "c0945895a632"


def commit_of(pin_name: str) -> str:
    """Return a full commit that begins like the name of a stored pin."""
    return pin_name.ljust(40, "0")


def make_project(root: Path, source: Path | None = None, first: str = FIRST) -> None:
    """Pin a stored pin, or a source like it, with its overrides, a docstring for each place, and its public names."""
    target = root / FILE
    target.parent.mkdir(parents=True)
    target.write_bytes((PINS / first / "overrides.toml").read_bytes())
    pin(str(source or PINS / first), commit_of(first), None, root)
    write_docs(root)
    made = generate_pinned(lambda _: None, root, root / "generated")
    names = root / "generated" / api.FILE
    names.parent.mkdir()
    names.write_text(made.files[api.FILE], encoding="utf-8")


def write_docs(root: Path) -> None:
    """Write a text for every place of the pinned schemas."""
    written: dict[str, set[str]] = {}
    (root / FOLDER).mkdir(exist_ok=True)
    for source in load_pinned(root)[0]:
        found = lower_what_can_be_read(source, lambda s: load_overrides(s, root / FILE))
        places = emit(found, {}).places
        known = written.get(STABLE_OF.get(source.label, ""), set[str]())
        written[source.label] = {".".join(p) for p in places}
        document = tomlkit.document()
        for place in sorted(p for p in places if ".".join(p) not in known):
            owner: Any = document
            for key in place[:-1]:
                owner = owner.setdefault(key, tomlkit.table())
            owner[place[-1]] = f"What {'.'.join(place)} is."
        (root / FOLDER / f"{source.label}.toml").write_text(tomlkit.dumps(document), encoding="utf-8")


def write_source(folder: Path, raw: Mapping[str, Any], meta: Mapping[str, Any] | None = None) -> Path:
    """Write a source that has the stable schema of version 1 alone."""
    (folder / "v1").mkdir(parents=True, exist_ok=True)
    (folder / "v1" / "schema.json").write_text(json.dumps(raw), encoding="utf-8")
    if meta is not None:
        (folder / "v1" / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return folder


def first_schema() -> dict[str, Any]:
    """Read the stable schema of version 1 of the first pin."""
    raw: dict[str, Any] = json.loads((PINS / FIRST / "v1" / "schema.json").read_text(encoding="utf-8"))
    return raw


def bump(root: Path, source: Path) -> Plan:
    """Plan a bump of the project to another commit."""
    return plan(str(source), Options(commit="f" * 40), root)
