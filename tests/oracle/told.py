"""The outcome of a comparison as text for people and as JSON for programs."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.oracle.compare import LISTS, UNIONS, VALUES, Comparison, Finding, stable
from tests.oracle.rules import Fact, Rule

LONG = 160
SHOWN = 12
"""Places of one rule that are printed; the JSON has all."""


def as_json(outcome: Comparison) -> str:
    """Tell everything."""
    told: dict[str, Any] = {
        "commit": outcome.commit,
        "asked": outcome.asked,
        "agree": outcome.agree,
        "findings": [_finding(finding) for finding in outcome.findings],
        "facts": {label: [fact_told(fact) for fact in sorted(facts)] for label, facts in outcome.facts.items()},
        "skipped": dict(sorted(outcome.skipped.items())),
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def fact_told(fact: Fact) -> dict[str, Any]:
    """Tell a fact: `table` is empty for an entry that stands in the label's own table."""
    return {"table": fact.table, "name": fact.name, "value": fact.value, "remove": fact.remove}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule.name.lower(),
        "meaning": finding.rule.value,
        "subject": finding.subject,
        "labels": finding.labels,
        "verdicts": finding.count,
        "fact": fact_told(finding.fact) if finding.fact else None,
        "accepted": finding.accepted or None,
        "examples": [json.loads(verdict.line()) for verdict in finding.examples],
    }


def as_text(outcome: Comparison, overrides: Path) -> str:
    """Tell the rules with their places, then the entries for the overrides."""
    lines: list[str] = []
    for rule in Rule:
        found = [finding for finding in outcome.open if finding.rule is rule]
        if found:
            lines += ["", f"The reference: {rule.value} ({sum(f.count for f in found)} verdicts)"]
            lines += [line for finding in found[:SHOWN] for line in _shown(finding)]
            lines += [f"  and {len(found) - SHOWN} places more"] * (len(found) > SHOWN)
    if outcome.skipped:
        lines += ["", f"Not in the package: {', '.join(sorted(outcome.skipped))}"]
    for label, facts in outcome.facts.items():
        lines += ["", f"# {overrides.name}, [{label}]", *toml_lines(label, facts, overrides)]
    stay = sum(finding.count for finding in outcome.findings if finding.accepted)
    lines += ["", f"{outcome.agree}/{outcome.asked} agree with the reference at {outcome.commit[:12]}"]
    lines += [f"differences on purpose: {stay}; to be decided: {sum(finding.count for finding in outcome.open)}"]
    return "\n".join(lines[1:])


def _shown(finding: Finding) -> Iterator[str]:
    yield f"  {finding.subject} ({', '.join(finding.labels)}): {finding.count}"
    if finding.fact is None:
        verdict = finding.examples[0]
        text = verdict.json if len(verdict.json) <= LONG else f"{verdict.json[:LONG]}…"
        yield f"    {verdict.type} {text} -> {verdict.out if verdict.ok else 'refused'}"


def toml_lines(label: str, facts: set[Fact], overrides: Path) -> list[str]:
    """Write the entries as they must stand once the facts are in; what is to be removed stands in a comment."""
    present = tomllib.loads(overrides.read_text(encoding="utf-8")).get(label, {})
    new = {fact for fact in facts if not fact.remove}
    lines: list[str] = []
    own = {fact.name for fact in new if not fact.table}
    if "null_as_empty" in own:
        lines.append("null_as_empty = true")
    for name in UNIONS:
        if name in own:
            unions = {fact.value for fact in new if (fact.table, fact.name) == ("", name)} | {*present.get(name, ())}
            lines.append(f"{name} = {json.dumps(sorted(unions))}")
    for table in (*LISTS, *VALUES):
        names = sorted({fact.name for fact in new if fact.table == table})
        lines += ["", f"[{label}.{table}]"] * bool(names)
        for name in names:
            values = sorted({fact.value for fact in new if (fact.table, fact.name) == (table, name)})
            if table in LISTS:
                values = [*present.get(table, {}).get(name, ()), *values]
            key = name if name.isidentifier() else json.dumps(name)
            lines.append(f"{key} = {json.dumps(values if table in LISTS else values[0])}")
    gone = sorted(fact for fact in facts if fact.remove)
    lines += [f"# remove: {_where(label, fact)}" for fact in gone]
    return lines


def _where(label: str, fact: Fact) -> str:
    table = f"[{label}.{fact.table}]" if fact.table else f"[{label}]"
    note = f" (or [{stable(label)}…], whose entries it takes)" if stable(label) != label else ""
    return f"{table} {fact.name}: {fact.value}{note}"
