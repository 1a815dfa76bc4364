"""Fixtures of the tests of tools."""

from pathlib import Path

import pytest

from tests.tools.inspect_support import (
    Inspect,
)


@pytest.fixture
def inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Inspect:
    return Inspect(tmp_path, capsys)
