"""Checkouts of upstream, and folders with its files."""

import re
from pathlib import Path

from generator.errors import GeneratorError
from generator.git import git, git_line
from generator.pin.archive import MANIFEST, package_of
from generator.pin.layout import NAMES, paths_of
from generator.pin.origin import Origin
from generator.source import UPSTREAM, Kind, Provenance, read_if_there

HOMES = (UPSTREAM, "https://github.com/zed-industries/agent-client-protocol")
"""Where upstream is, and where it was at first."""


def open_folder(source: str, commit: str | None) -> Origin:
    """Open a checkout at its commit or another, or a folder with schema files."""
    folder = Path(source)
    if git_line(folder, "rev-parse", "--show-prefix") != "":
        return _open_plain(folder, source, commit)
    wanted = commit or "HEAD"
    sha = git_line(folder, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
    if not sha:
        raise GeneratorError(f"has no commit {wanted}", file=source)
    home, doubt = _home(folder, sha)
    return Origin(
        read=lambda path: git(folder, "show", f"{sha}:{path}"),
        shown=source,
        provenance=Provenance(
            Kind.CHECKOUT, home, verified=() if doubt else ("a branch or tag of upstream has the commit",)
        ),
        commit=sha,
        unverified=doubt,
        release=git_line(folder, "describe", "--tags", "--exact-match", "--match", "schema-v*", sha) or None,
        date=git_line(folder, "show", "--no-patch", "--format=%cs", sha) or None,
    )


def repository(url: str) -> str:
    """Return the https form of a repository's address, without a user; empty for a local path."""
    address = url.removeprefix("git+")
    parts = re.fullmatch(r"(?:(?:https?|ssh|git)://)(?:[^/@]*@)?([^/:]+)(?::\d+)?/(.+)", address)
    parts = parts or re.fullmatch(r"(?:[^/@:]+@)([^/:]+):(?!/)(.+)", address)
    if parts is None:
        return ""
    host, path = parts.groups()
    return f"https://{host.lower()}/{path.rstrip('/').removesuffix('.git')}"


def is_upstream(url: str) -> bool:
    """Return whether an address is that of upstream's repository."""
    return repository(url).lower() in HOMES


def _home(folder: Path, sha: str) -> tuple[str, str]:
    """Return the repository that a checkout is of, and why its commit may not be upstream's."""
    listed = git_line(folder, "config", "--get-regexp", r"^remote\..*\.url$") or ""
    pairs = [line.split(" ", 1) for line in listed.splitlines() if " " in line]
    remotes = {key[len("remote.") : -len(".url")]: url for key, url in pairs}
    ours = next((name for name, url in remotes.items() if is_upstream(url)), None)
    if ours is None:
        return repository(remotes.get("origin", "")), "no remote of the checkout is upstream's repository"
    refs = (f"refs/remotes/{ours}", "refs/tags")
    if not git_line(folder, "for-each-ref", "--count=1", f"--contains={sha}", *refs):
        return repository(remotes[ours]), "no branch or tag that the checkout has of upstream contains the commit"
    return repository(remotes[ours]), ""


def _open_plain(folder: Path, source: str, commit: str | None) -> Origin:
    manifest = read_if_there(folder / MANIFEST)
    name, version = package_of(manifest, f"{source}/{MANIFEST}")
    doubt, home = _why_unverified(folder, commit)
    return Origin(
        read=lambda path: read_if_there(folder / path),
        shown=source,
        provenance=Provenance(
            Kind.FOLDER, home or name, version, verified=() if doubt else ("git has the same files in the commit",)
        ),
        commit=commit,
        unverified=doubt,
        is_package=manifest is not None,
    )


def _why_unverified(folder: Path, commit: str | None) -> tuple[str, str]:
    """Return why a folder may not match a commit, empty if upstream's commit has the same files; and its repository."""
    if commit is None:
        return "the commit of a folder is unknown", ""
    sha = git_line(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if sha is None:
        return "--commit named it, and the folder is not of a repository that has it", ""
    prefix = git_line(folder, "rev-parse", "--show-prefix") or ""
    for path in (path for name in NAMES for path in paths_of(name)):
        there = read_if_there(folder / path)
        if there is not None and there != git(folder, "show", f"{sha}:{prefix}{path}"):
            return f"--commit named it, but {path} differs there", ""
    home, doubt = _home(folder, sha)
    return doubt, home
