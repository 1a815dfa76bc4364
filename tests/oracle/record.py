"""Records the verdicts of the reference for the pinned schemas: `make vectors`. Needs cargo and the network.

The crate should be that of the pinned commit. Where it is not quite, only definitions that it describes as the schemas
do are asked about; what is recorded of the others stays, and they are listed. What the reference takes only by the
habits of its library, in forms that the protocol does not have, is not recorded.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracle.locate import Locator
from tests.oracle.probes import Prober
from tests.oracle.recorded import folder_of, raw_schema, read, read_questions, schema_of, write
from tests.oracle.reference import FEATURES, HERE, PIN, OracleError, Reference, pinned_crate
from tests.oracle.schema_files import REPO
from tests.oracle.schema_parts import PREFIX, places
from tests.oracle.spelling import Node, is_array, is_object

INDEX = "index.json"
PROSE = ("description",)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded of one label."""

    label: str
    verdicts: int
    lacking: dict[str, str]
    """The definitions without new verdicts, each with the reason."""


def record(label: str, crate: str, schemas: Path, folder: Path) -> Recorded:
    """Ask the reference about one label, and write its verdicts."""
    reference = Reference(label, crate)
    lacking = why_not_asked(raw_schema(label, schemas), reference.schema(), reference.types())
    schema = schema_of(label, schemas)
    prober, locator = Prober(schema), Locator(schema)
    known = {key for key in prober.keys if key not in lacking}
    asked = [question for question in prober.questions() if question.type in known]
    asked += [question for question in read_questions(label) if question.type in known]
    path = folder / f"{label}.jsonl.gz"
    kept = [verdict for verdict in read(path) if verdict.type in lacking] if path.exists() else []
    answers = reference.verdicts(dict.fromkeys(asked))
    verdicts = [v for v in answers if not (v.ok and locator.oddity(v.type, json.loads(v.json)))] + kept
    write(path, verdicts)
    return Recorded(label, len(verdicts), lacking)


def why_not_asked(pinned: Node, own: Node, types: dict[str, str]) -> dict[str, str]:
    """Tell which pinned definitions the crate cannot be asked about, and why."""
    found: dict[str, str] = {}
    differing = {key for key, node in pinned["$defs"].items() if bare(own["$defs"].get(key)) != bare(node)}
    for key, node in pinned["$defs"].items():
        if "x-docs-ignore" in node:
            continue
        if key not in own["$defs"]:
            found[key] = "the crate's schema does not have it"
        elif types.get(key) != "readable":
            found[key] = f"the crate has no type of this name that can be read and written: {types.get(key, 'absent')}"
        elif inside := sorted(closure(key, pinned["$defs"]) & differing):
            found[key] = f"the crate's schema describes {', '.join(inside)} otherwise"
    return found


def bare(node: Any, names: bool = False) -> Any:
    """Copy a schema without prose; `names` says that its keys are names and no keywords."""
    if is_array(node):
        return [bare(part) for part in node]
    if not is_object(node):
        return node
    return {
        key: bare(part, names=not names and key in ("properties", "$defs"))
        for key, part in node.items()
        if names or key not in PROSE
    }


def closure(key: str, definitions: Node) -> set[str]:
    """List a definition and all that it refers to, directly or not."""
    found: set[str] = set()
    left = [key]
    while left:
        name = left.pop()
        if name not in found and name in definitions:
            found.add(name)
            refs = (place.node["$ref"] for place in places(definitions[name], PREFIX + name) if "$ref" in place.node)
            left += [ref.removeprefix(PREFIX) for ref in refs]
    return found


def crate_of(lock: dict[str, Any]) -> str:
    """Return the version of the crate that the lock names as its source, else the one that is pinned here."""
    source = lock.get("source", {})
    return str(source["version"]) if source.get("kind") == "crate" else pinned_crate()


def _lock(schemas: Path, commit: str | None) -> dict[str, Any]:
    """Read the lock beside schemas, or make one for a commit that is named."""
    path = schemas / "lock.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if not (commit or found.get("commit")):
        raise OracleError(f"{schemas}: there is no lock that names the commit; name it with --commit")
    return {**found, "commit": commit or found["commit"]}


def _index(crate: str, outcomes: Iterable[Recorded]) -> str:
    told = {o.label: {"verdicts": o.verdicts, **({"lacking": o.lacking} if o.lacking else {})} for o in outcomes}
    return json.dumps({"crate": crate, "labels": told}, indent=2) + "\n"


def _lines(outcome: Recorded) -> Iterator[str]:
    yield f"{outcome.label}: {outcome.verdicts} verdicts"
    for key, why in outcome.lacking.items():
        yield f"  not asked: {key}: {why}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="record", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--crate", help="the version of the crate; without it the one that the lock names")
    parser.add_argument("--schemas", type=Path, default=REPO / "schema", help="a folder with v1/schema.json and more")
    parser.add_argument("--commit", help="the commit of these schemas; without it the one that their lock names")
    options = parser.parse_args(arguments)
    try:
        lock = _lock(options.schemas, options.commit)
        commit = lock["commit"]
        crate = options.crate or crate_of(lock)
        outcomes: list[Recorded] = []
        for label in FEATURES:
            outcomes.append(record(label, crate, options.schemas, folder_of(commit)))
            print("\n".join(_lines(outcomes[-1])), flush=True)
    except OracleError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    (folder_of(commit) / INDEX).write_text(_index(crate, outcomes), encoding="utf-8")
    manifest = HERE / "Cargo.toml"
    manifest.write_text(PIN.sub(rf'\1"={crate}"', manifest.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"recorded: {sum(o.verdicts for o in outcomes)} verdicts of the crate {crate} at {commit[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
