"""What the tests of pinning share."""

import json
from pathlib import Path

import pytest

from tests.generator.upstream import FILES
from tests.support import ROOT, meta_of


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """Make a folder like upstream's: our stored files, with prose put back in."""
    folder = tmp_path / "upstream"
    for name in FILES:
        stored = ROOT / "schema" / name
        if stored.is_file():
            raw = json.loads(stored.read_text(encoding="utf-8"))
        else:  # what is pinned may have come without lists of methods
            schema = stored.with_name(stored.name.replace("meta", "schema"))
            raw = meta_of(json.loads(schema.read_text(encoding="utf-8")))
        for definition in raw.get("$defs", {}).values():
            definition["description"] = "Some prose."
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(raw), encoding="utf-8")
    return folder
