"""Builders are loaded when one is first used, whichever way."""

import subprocess
import sys

import pytest
from acp_msgspec import v1, v2

from tests.support import ROOT

pytestmark = pytest.mark.slow
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")


def _run(code: str) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "generated")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.parametrize("label", LABELS)
def test_a_schema_does_not_load_them(label: str) -> None:
    heavy = "{m for m in sys.modules if m.startswith('acp_msgspec._build') or m.endswith('.build')} | "
    heavy += "{'difflib', 'binascii'} & set(sys.modules)"
    code = f"import sys\nfrom acp_msgspec import {label} as s\ns.TextContent\nassert not {heavy}\n"
    code += "assert {'text', 'diff'} <= set(dir(s)) and 'text' not in vars(s)\n"
    code += "s.text('x')\nassert 'diff' in vars(s) and s.text is s.build.text\n"
    _run(code)


@pytest.mark.parametrize(
    "way",
    [
        "from acp_msgspec.v1 import text",
        "from acp_msgspec.v1 import *",
        "from acp_msgspec.v1.build import text",
        "from acp_msgspec.v1 import build\ntext = build.text",
        "from acp_msgspec import v1\ntext = v1.text",
    ],
)
def test_ways_to_import(way: str) -> None:
    assert _run(f"{way}\nprint(text('x').text)") == "x\n"


@pytest.mark.parametrize("name", ["texts", "_text", "build_", "__wrapped__"])
def test_other_names_are_not_there(name: str) -> None:
    for schema in (v1, v2):
        with pytest.raises(AttributeError, match=f"module 'acp_msgspec.v[12]' has no attribute '{name}'"):
            getattr(schema, name)


def test_names_of_former_releases_still_work() -> None:
    with pytest.warns(DeprecationWarning, match="is called CancelledPermissionOutcome now") as caught:
        assert v2.RequestPermissionOutcomeCancelled is v2.CancelledPermissionOutcome
    assert caught[0].filename == __file__
