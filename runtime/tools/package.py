"""The package that the tools belong to: its name, its folder, and what it was generated from."""

from pathlib import Path

from .._about import SCHEMA_VERSIONS, UPSTREAM_COMMIT, __version__

NAME = "acp_msgspec"
"""The name of the original; a vendored copy is imported under another one."""
FOLDER = Path(__file__).resolve().parent.parent
VERSION = __version__
RELEASES: dict[str, str] = {k: v for k, v in SCHEMA_VERSIONS.items() if (FOLDER / k / "__init__.py").is_file()}
"""The upstream schema release of each label that is here; a vendored copy may have some of them only."""

__all__ = ["FOLDER", "NAME", "RELEASES", "SCHEMA_VERSIONS", "UPSTREAM_COMMIT", "VERSION"]
