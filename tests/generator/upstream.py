"""Sources that tests pin from: checkouts of a made-up upstream, and tarballs of it."""

import gzip
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generator.source import LABELS, UPSTREAM

FILES = sorted({name for pair in LABELS.values() for name in pair})
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PACKAGE = "@agentclientprotocol/sdk"
ONLY: dict[str, Any] = {"$defs": {"Only": {"description": "Some prose.", "type": "string"}}}
"""The smallest schema that can be pinned."""
DRAFT: dict[str, Any] = {"$defs": {"Only": {"description": "**UNSTABLE**\n\nSome prose.", "type": "string"}}}


def run_git(folder: Path, *arguments: str) -> str:
    """Run git as somebody, without any configuration; give what it prints."""
    identity = {f"GIT_{who}_{what}": "x@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    run = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def checkout_of(upstream: Path, tmp_path: Path, remote: str | None = UPSTREAM) -> tuple[Path, str]:
    """Move a folder with schemas into a checkout, whose commit a branch of the remote has; give it and the commit."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    upstream.rename(checkout / "schema")
    run_git(checkout, "init", "--quiet", "--initial-branch=main")
    run_git(checkout, "add", ".")
    run_git(checkout, "commit", "--quiet", "--message=one")
    if remote is not None:
        run_git(checkout, "remote", "add", "origin", remote)
        published(checkout)
    return checkout, run_git(checkout, "rev-parse", "HEAD")


def published(checkout: Path) -> None:
    """Make the commit of a checkout one that the remote's branch has, too."""
    run_git(checkout, "update-ref", "refs/remotes/origin/main", "HEAD")


def as_json(value: object) -> bytes:
    """Give the bytes of a JSON file."""
    return json.dumps(value).encode()


def manifest(version: str = "1.2.3", **more: object) -> bytes:
    """Give the manifest of the package, as its tarball has it."""
    return as_json({"name": PACKAGE, "version": version, **more})


def tarball(files: dict[str, bytes], *, more: Iterable[tarfile.TarInfo] = (), top: str = "package/") -> bytes:
    """Pack files into a tarball as npm does, and members without content behind them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{top}{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in more:
            archive.addfile(member)
    return gzip.compress(out.getvalue(), mtime=0)


def packed(upstream: Path, **more: bytes) -> bytes:
    """Pack the schemas of a folder as upstream's package has them: without the lists of methods."""
    schemas = {f"schema/{name}": (upstream / name).read_bytes() for name in FILES if "schema" in name}
    return tarball({"package.json": manifest(), **schemas, **more})
