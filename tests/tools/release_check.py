"""What must hold before a release: `make release-check [TAG=v1.2.3]`.

Builds wheel and sdist, has twine judge them, installs each in a clean environment, uses it there, and makes sure that
the version, the tag and the changelog agree and that nothing of the generator is inside.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PIP = ["-m", "pip", "--disable-pip-version-check"]
SMOKE = """
import sys
import acp_msgspec as acp
from acp_msgspec import v1, v1_unstable, v2, v2_unstable

assert acp.__version__ == sys.argv[1], acp.__version__
assert len(acp.UPSTREAM_COMMIT) == 40 and set(acp.SCHEMA_VERSIONS) >= {"v1", "v2"}
params = b'{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}'
line = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":' + params + b"}"
for module in (v1, v1_unstable, v2, v2_unstable):
    message = module.decode_client_message(line)
    assert module.decode_client_message(acp.encode_line(message)) == message
try:
    import generator
except ImportError:
    print("smoke test passed")
"""


def fail(why: str) -> None:
    """Stop with one line."""
    raise SystemExit(f"error: {why}")


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command; its failure is the check's."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_versions(tag: str | None) -> str:
    """Compare the version with the tag and the changelog."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if tag is not None and tag != f"v{version}":
        fail(f"the tag is {tag}, but pyproject.toml says {version}")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if tag is not None and f"## {version}" not in changelog:
        fail(f"CHANGELOG.md has no section {version}")
    return version


def check_contents(wheel: Path, sdist: Path) -> None:
    """Look for what must not be inside."""
    with zipfile.ZipFile(wheel) as opened:
        outside = [n for n in opened.namelist() if not n.startswith(("acp_msgspec/", "acp_msgspec-"))]
    if outside:
        fail(f"{wheel.name} holds {outside[0]}")
    with tarfile.open(sdist) as opened:
        tops = {n.split("/")[1] for n in opened.getnames() if "/" in n}
    known = {"generated", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
    if tops - known:
        fail(f"{sdist.name} holds {min(tops - known)}")


def check_install(archive: Path, version: str, folder: Path) -> None:
    """Install one archive in a clean environment and use it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, *PIP, "install", "--quiet", archive)
    print(f"{archive.name}: {run(python, '-I', '-c', SMOKE, version, cwd=folder).strip()}")


def main() -> None:
    """Check, and leave the archives in dist/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag that is to be released")
    version = check_versions(parser.parse_args().tag or None)
    dist = ROOT / "dist"
    for old in dist.glob("acp_msgspec-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, ROOT)
    wheel, sdist = dist / f"acp_msgspec-{version}-py3-none-any.whl", dist / f"acp_msgspec-{version}.tar.gz"
    if not wheel.is_file() or not sdist.is_file():
        fail(f"the build made {', '.join(sorted(p.name for p in dist.iterdir()))}")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    check_contents(wheel, sdist)
    with tempfile.TemporaryDirectory() as folder:
        check_install(wheel, version, Path(folder) / "wheel")
        check_install(sdist, version, Path(folder) / "sdist")
    print(f"{version} is fit for release")


if __name__ == "__main__":
    main()
