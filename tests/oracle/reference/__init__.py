"""The reference implementation as a program: builds it for a version of its crate, and asks it.

The crate is `agent-client-protocol-schema`, from its registry; so cargo and, for the first build, the network are
needed. One build serves one surface: the crate's features decide which version of the protocol it speaks.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
CACHE = HERE / ".cache"
CRATE = "agent-client-protocol-schema"
FEATURES = {"v1": "", "v1_unstable": "unstable", "v2": "v2", "v2_unstable": "v2,unstable"}
"""The surfaces, and the features that select each."""
SOURCES = ("main.rs", "schema.rs", "verdicts.rs")
PIN = re.compile(rf'^({CRATE} = )"=([^"]+)"$', re.MULTILINE)
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")


class OracleError(Exception):
    """The reference cannot be built or asked; the message is for the reader."""


class Question(NamedTuple):
    """A JSON text to be read as a type."""

    type: str
    json: str


class Verdict(NamedTuple):
    """What the reference says: whether it takes the text as that type, and what it then writes again."""

    type: str
    json: str
    ok: bool
    out: str | None

    def line(self) -> str:
        """Give the verdict as it is recorded, without `out` where it is None."""
        told = {key: value for key, value in self._asdict().items() if value is not None}
        return json.dumps(told, ensure_ascii=False)


def pinned_crate() -> str:
    """Return the version that the kept `Cargo.toml` names."""
    found = PIN.search((HERE / "Cargo.toml").read_text(encoding="utf-8"))
    if found is None:
        raise OracleError(f"tests/oracle/reference/Cargo.toml: does not pin {CRATE} with =")
    return found.group(2)


def why_absent() -> str | None:
    """Return why nothing can be built here; None if it can be tried."""
    return None if _cargo() else "there is no `cargo`"


@cache
def _cargo() -> str | None:
    return shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo" / "bin"))


@dataclass(frozen=True, slots=True)
class Reference:
    """One surface of one version of the crate."""

    surface: str
    crate: str

    def __post_init__(self) -> None:
        if self.surface not in FEATURES:
            raise OracleError(f"there is no surface {self.surface!r}; one of {', '.join(FEATURES)}")
        if not VERSION.fullmatch(self.crate):
            raise OracleError(f"{self.crate!r} is not a version of the crate {CRATE}")

    def schema(self) -> dict[str, Any]:
        """Return the schema, composed as upstream composes the file that it publishes."""
        return self._document("schema")

    def meta(self) -> dict[str, Any]:
        """Return the names of the methods, as upstream's meta file has them."""
        return self._document("meta")

    def types(self) -> dict[str, str]:
        """Tell for each definition: `readable`; `unreadable`, without a way to read and write it; or `absent`."""
        told: dict[str, str] = json.loads(self._run("types", self._definitions()))
        return told

    def verdicts(self, questions: Iterable[Question]) -> Iterator[Verdict]:
        """Ask about values; the types must be readable."""
        lines = "".join(json.dumps(question._asdict()) + "\n" for question in questions)
        for line in self._run("verdicts", self._definitions(), lines).splitlines():
            told = json.loads(line)
            yield Verdict(told["type"], told["json"], told["ok"], _in_order(told.get("out")))

    def _document(self, mode: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._run(mode, []))
        return told

    def _definitions(self) -> list[str]:
        """List the definitions of the schema that are values; whole messages are hidden from upstream's docs."""
        return [key for key, node in self.schema()["$defs"].items() if "x-docs-ignore" not in node]

    def _run(self, mode: str, types: list[str], given: str = "") -> str:
        program = _build(self, types)
        done = subprocess.run(
            [program, mode, self.surface], input=given, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode:
            raise OracleError(f"the reference {self.crate}: {done.stderr.strip()}")
        return done.stdout


def _in_order(out: str | None) -> str | None:
    """Sort the keys of what was written: some maps of the reference come out in another order each time."""
    if out is None:
        return None
    return json.dumps(json.loads(out), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _build(reference: Reference, types: list[str]) -> Path:
    """Build the program for a list of types, unless it is there; each has its own copy of the sources."""
    manifest = PIN.sub(rf'\1"={reference.crate}"', (HERE / "Cargo.toml").read_text(encoding="utf-8"))
    sources = {name: (HERE / "src" / name).read_text(encoding="utf-8") for name in SOURCES}
    files = {"Cargo.toml": manifest, **{f"src/{name}": text for name, text in sources.items()}}
    files["types.rs"] = f"types! {{ {' '.join(types)} }}\n"
    key = hashlib.sha256(json.dumps([reference.surface, files]).encode()).hexdigest()[:16]
    program = CACHE / "programs" / f"{reference.crate}-{reference.surface}-{key}"
    if program.exists():
        return program
    folder = CACHE / reference.crate
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    built = _compile(folder, reference)
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, program.with_suffix(".part"))
    program.with_suffix(".part").replace(program)
    return program


def _compile(folder: Path, reference: Reference) -> Path:
    cargo = _cargo()
    if cargo is None:
        raise OracleError("there is no `cargo`; the reference is built by it (see docs/bumping.md)")
    target = Path(os.environ.get("CARGO_TARGET_DIR") or CACHE / "target")
    done = subprocess.run(
        [cargo, "build", "--quiet", "--features", FEATURES[reference.surface]],
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": str(target), "REFERENCE_TYPES": str(folder / "types.rs")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise OracleError(f"cargo cannot build the reference {reference.crate}:\n{done.stderr.strip()}")
    return target / "debug" / "reference"
