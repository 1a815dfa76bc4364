"""Holds a package against the recorded verdicts of the reference, and tells by rule where they disagree.

`python -m tests.oracle.compare` prints what disagrees, and the entries of `schema/overrides.toml` that would cure it.
"""

import argparse
import importlib
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from tests.oracle.recorded import FOLDER, LENGTH, files_of, folder_of, read, schema_of
from tests.oracle.reference import Verdict
from tests.oracle.rules import Candidate, Fact, Judge, Ours, Rule, differences
from tests.oracle.schema_files import LABELS, REPO
from tests.oracle.spelling import is_array

LISTS = ("patch", "not_patch", "enforced", "forbids")
VALUES = ("default", "unknown_member")
UNIONS = ("tag_decides", "verbatim")
"""Entries of a label's own table that list unions."""
ACCEPTED = Path(__file__).parent / "accepted.toml"
EXAMPLES = 3
"""Verdicts that are kept with each finding."""


@dataclass(slots=True)
class Finding:
    """A rule by which package and reference disagree at one place, in one label or more."""

    rule: Rule
    subject: str
    fact: Fact | None
    labels: list[str] = field(default_factory=list[str])
    count: int = 0
    examples: list[Verdict] = field(default_factory=list[Verdict])
    accepted: str = ""
    """Why the package differs here on purpose; empty where it should agree."""


@dataclass(slots=True)
class Comparison:
    """The outcome: how many verdicts were compared, how many agree, and why the others do not."""

    commit: str
    asked: int = 0
    agree: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    skipped: Counter[str] = field(default_factory=Counter[str])
    """Verdicts on types that the package lacks, by label and type."""

    @property
    def open(self) -> list[Finding]:
        """The findings that must go: by a fact, or by a change of the generator."""
        return [finding for finding in self.findings if not finding.accepted]

    @property
    def facts(self) -> dict[str, set[Fact]]:
        """The facts that would cure what a fact can, by the label whose table they belong in."""
        found: dict[str, set[Fact]] = {}
        for finding in self.open:
            for label in tables_of(finding.labels) if finding.fact else ():
                assert finding.fact is not None
                found.setdefault(label, set()).add(finding.fact)
        # What holds for a whole table may show at definitions that only the unstable label has.
        for label in [label for label in found if stable(label) != label]:
            found[label] -= found.get(stable(label), set())
        return {label: found[label] for label in LABELS if found.get(label)}


def tables_of(labels: Iterable[str]) -> list[str]:
    """Give the tables of the overrides for a fact: an unstable label takes the entries of its stable one, too."""
    return [label for label in labels if label == stable(label) or stable(label) not in labels]


def stable(label: str) -> str:
    """Name the stable label of a label."""
    return label.removesuffix("_unstable")


def facts_of(label: str, path: Path) -> set[Fact]:
    """Read the facts of a label from an overrides file, those of its stable label included."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    found: set[Fact] = set()
    for name in dict.fromkeys((stable(label), label)):
        found |= set(_entries(tables.get(name, {})))
    return found


def _entries(table: dict[str, Any]) -> Iterator[Fact]:
    for kind in (*LISTS, *VALUES):
        for name, value in table.get(kind, {}).items():
            yield from (Fact(kind, name, part) for part in (value if is_array(value) else [value]))
    if table.get("null_as_empty") is True:
        yield Fact("", "null_as_empty", "true")
    yield from (Fact("", name, union) for name in UNIONS for union in table.get(name, ()))


def reader(package: Any, module: Any) -> Callable[[Verdict], Ours | None]:
    """Make what reads and writes the text of a verdict with a package; None for a type that it lacks."""

    def ours(verdict: Verdict) -> Ours | None:
        kind = getattr(module, verdict.type, None)
        if kind is None:
            return None
        try:
            value, repairs = package.decode_with_repairs(verdict.json.encode(), type=kind)
        except msgspec.DecodeError as why:
            message, _, path = str(why).rpartition(" - at `")
            return Ours(False, error=message or path, path=path[:-1] if message else "$")
        except Exception as why:
            return Ours(False, error=f"{type(why).__name__}: {why}", crash=True)
        out = json.loads(package.encode(value))
        tag: str | None = value.__struct_config__.tag_field if isinstance(value, msgspec.Struct) else None
        if tag is not None and verdict.out is not None and tag not in json.loads(verdict.out):
            out.pop(tag, None)  # a payload that one union alone uses writes its tag also when it is tried by itself
        return Ours(True, out, repairs=tuple((repair.path, repair.value) for repair in repairs))

    return ours


def compare_label(judge: Judge, ours: Callable[[Verdict], Ours | None], verdicts: Iterable[Verdict]) -> Comparison:
    """Compare one label."""
    label = judge.schema.label
    outcome = Comparison("")
    open_cases: list[tuple[Verdict, list[Candidate]]] = []
    for verdict in verdicts:
        found = ours(verdict)
        if found is None:
            outcome.skipped[f"{label}.{verdict.type}"] += 1
            continue
        outcome.asked += 1
        theirs = json.loads(verdict.out) if verdict.out is not None else None
        if verdict.ok == found.ok and not (verdict.ok and any(differences(theirs, found.out))):
            outcome.agree += 1
            continue
        open_cases.append((verdict, judge.candidates(verdict, json.loads(verdict.json), theirs, found)))
    outcome.findings = _explained(label, open_cases)
    return outcome


def _explained(label: str, cases: list[tuple[Verdict, list[Candidate]]]) -> list[Finding]:
    """Choose for each case what explains it: a difference in writing always, of several causes those shown alone."""
    alone = Counter(found[0] for _, found in cases if len(found) == 1)
    chosen: dict[Candidate, Finding] = {}
    for verdict, found in sorted(cases, key=lambda case: len(case[0].json)):
        known = [candidate for candidate in found if candidate in alone]
        certain = known or found[:1]
        # Two variants exclude each other, each by a fact of its own.
        several = all(candidate.rule is Rule.FORBIDS for candidate in found)
        for candidate in found if verdict.ok or several else certain[:1]:
            finding = chosen.setdefault(candidate, Finding(candidate.rule, candidate.subject, candidate.fact, [label]))
            finding.count += 1
            if len(finding.examples) < EXAMPLES:
                finding.examples.append(verdict)
    return sorted(chosen.values(), key=lambda f: (f.rule.name, f.subject))


def merged(commit: str, outcomes: Iterable[Comparison]) -> Comparison:
    """Join the outcomes of several labels; the same rule at the same place is one finding."""
    whole = Comparison(commit)
    findings: dict[tuple[Rule, str, str, Fact | None], Finding] = {}
    for outcome in outcomes:
        whole.asked += outcome.asked
        whole.agree += outcome.agree
        whole.skipped += outcome.skipped
        for found in outcome.findings:
            key = (found.rule, found.subject, stable(found.labels[0]), found.fact)
            if key in findings:
                findings[key].labels += found.labels
                findings[key].count += found.count
            else:
                findings[key] = replace(found, labels=[*found.labels])
    reasons = {(entry["rule"], entry["subject"]): entry["reason"] for entry in accepted(commit)}
    for finding in findings.values():
        finding.accepted = reasons.get((finding.rule.name.lower(), finding.subject), "")
        if finding.rule is Rule.ON_PURPOSE:
            finding.accepted = finding.rule.value
    order = list(Rule)
    whole.findings = sorted(findings.values(), key=lambda f: (order.index(f.rule), f.subject, f.labels))
    return whole


def accepted(commit: str) -> list[dict[str, Any]]:
    """Read the differences that are known at a commit and stay: `rule`, `subject` and `reason` of each."""
    entries: list[dict[str, Any]] = tomllib.loads(ACCEPTED.read_text(encoding="utf-8"))["difference"]
    return [entry for entry in entries if commit[:LENGTH] in entry["commits"]]


def compare_modules(
    package: Any, modules: Mapping[str, Any], vectors: Path, schemas: Path, overrides: Path
) -> Comparison:
    """Hold the modules of a package, by label, against the verdicts in a folder.

    `schemas` and `overrides` are what the modules were made of.
    """
    outcomes = [
        compare_label(
            Judge(schema_of(label, schemas), facts_of(label, overrides)), reader(package, modules[label]), read(path)
        )
        for label, path in files_of(vectors).items()
        if label in modules
    ]
    return merged(vectors.name, outcomes)


def compare(folder: Path, vectors: Path, schemas: Path, overrides: Path) -> Comparison:
    """Hold the package `acp_msgspec` in a folder against the verdicts in another."""
    sys.path.insert(0, str(folder))
    try:
        package = importlib.import_module("acp_msgspec")
        there = [label for label in LABELS if (folder / "acp_msgspec" / label).is_dir()]
        modules = {label: importlib.import_module(f"acp_msgspec.{label}") for label in there}
    finally:
        sys.path.remove(str(folder))
    return compare_modules(package, modules, vectors, schemas, overrides)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 1 where the package should agree and does not."""
    from tests.oracle.told import as_json, as_text

    parser = argparse.ArgumentParser(prog="compare", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--package", type=Path, default=REPO / "generated", help="the folder that holds acp_msgspec")
    parser.add_argument("--commit", help="whose verdicts; without it those of the lock's commit")
    parser.add_argument("--vectors", type=Path, help="a folder with verdicts, instead of that of the commit")
    parser.add_argument("--schemas", type=Path, default=REPO / "schema", help="what the package was generated from")
    parser.add_argument("--overrides", type=Path, help="the overrides it was generated with")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args(arguments)
    commit = options.commit or json.loads((options.schemas / "lock.json").read_text(encoding="utf-8"))["commit"]
    vectors = options.vectors or folder_of(commit)
    if not files_of(vectors):
        recorded = ", ".join(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
        print(f"error: no verdicts of {commit[:LENGTH]} are recorded, those are: {recorded}", file=sys.stderr)
        print("hint: `make vectors` records them; it needs cargo and the network", file=sys.stderr)
        return 2
    overrides = options.overrides or REPO / "schema" / "overrides.toml"
    outcome = compare(options.package.resolve(), vectors, options.schemas, overrides)
    print(as_json(outcome) if options.format == "json" else as_text(outcome, overrides))
    return 1 if outcome.open else 0


if __name__ == "__main__":
    sys.exit(main())
