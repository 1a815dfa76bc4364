"""The text that a bump prints: what is edited, what must be decided, which texts are missing, and the checklist."""

from collections import Counter
from collections.abc import Iterable, Iterator

from generator.bump.plan import Decision, Edit, Group, Plan
from generator.diff.compare.comparison import count_of
from generator.diff.compare.rules import EFFECTS, Version

WHERE = 3
"""How many places of one problem are listed."""
VECTORS = "tests/oracle/compare.py"
"""There if the recorded verdicts can be held against the package."""


def render(plan: Plan, *, applied: bool, has_vectors: bool = False) -> str:
    """Write a plan as text; `applied` says that its edits have been written."""
    if plan.is_empty:
        return f"nothing to do: {_commit(plan.lock.commit, plan.lock.release)} is pinned, and all is decided\n"
    sections = [
        _head(plan),
        _edits(plan, applied=applied),
        _decisions(plan),
        _texts(plan),
        _checklist(plan, applied=applied, has_vectors=has_vectors),
    ]
    return "\n".join("\n".join(lines) + "\n" for lines in (list(s) for s in sections) if lines)


def _commit(commit: str, release: str) -> str:
    return f"{commit[:12]} ({release})"


def _head(plan: Plan) -> Iterator[str]:
    before, now = plan.present, plan.lock
    if before.commit != now.commit:
        yield f"bump: {_commit(before.commit, before.release)} -> {_commit(now.commit, now.release)}"
    else:
        yield f"bump: {_commit(now.commit, now.release)}, compared with {plan.base}"
    if now.unverified:
        yield f"unverified: {now.unverified}"
    found = plan.comparison
    yield f"version: {found.version.value}: {found.why}"
    counts = Counter(c.rule.severity for c in found.changes)
    yield "changes for users: " + (", ".join(f"{counts[e]} {e.value}" for e in EFFECTS if counts[e]) or "none")


def _edits(plan: Plan, *, applied: bool) -> Iterator[str]:
    pinned = sorted(f for f in plan.files if f.endswith(".json"))
    if not (plan.edits or pinned or plan.removed):
        return
    yield "written:" if applied else "with --apply, which needs no judgement:"
    verbs = ("pinned", "removed") if applied else ("pin", "remove")
    yield from (f"  {verbs[0]} {file}" for file in pinned)
    yield from (f"  {verbs[1]} {file}" for file in plan.removed)
    for file in sorted({_file(e) for e in plan.edits}):
        edits = [e for e in plan.edits if _file(e) == file]
        yield f"  {file}: {_counts(edits)}"
        yield from _folded(edits)


def _file(edit: Edit) -> str:
    return edit.old.file if edit.old is not None else edit.new[0].file


def _verb(edit: Edit) -> str:
    return "added" if edit.old is None else "moved" if edit.new else "pruned"


def _counts(edits: Iterable[Edit]) -> str:
    counts = Counter(map(_verb, edits))
    return ", ".join(f"{counts[verb]} {verb}" for verb in ("pruned", "moved", "added") if counts[verb])


def _folded(edits: list[Edit]) -> Iterator[str]:
    """Write the edits, those of one table or class with the same target in one line."""
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for edit in edits:
        place = edit.old or edit.new[0]
        whole = ".".join(place.keys[:2] if place.file.endswith("overrides.toml") else place.keys[:1])
        rest = ".".join(place.keys[2:] if place.file.endswith("overrides.toml") else place.keys[1:])
        now = ", ".join(_target(edit, n) for n in range(len(edit.new)))
        groups.setdefault((_verb(edit), whole, now, edit.why), []).append(rest)
    for (verb, whole, now, why), names in groups.items():
        there = f" -> {now}" if now else ""
        yield f"    {verb}: [{whole}] {', '.join(n for n in names if n)}{there} ({why})"


def _target(edit: Edit, number: int) -> str:
    """Write where an entry goes: the table and, where it changes, its name and value."""
    new, old = edit.new[number], edit.old
    if new.file.endswith("overrides.toml"):
        table, rest = ".".join(new.keys[:2]), ".".join(new.keys[2:])
    else:
        table, rest = new.file, str(new)
    if old is None:
        return str(edit.value)
    is_same = old.keys[1:] == new.keys[1:] if old.file == new.file else old.keys == new.keys
    value = f" = {edit.value}" if old == new else ""
    return f"[{table}]" if is_same and not value else f"[{table}] {rest}{value}"


def _decisions(plan: Plan) -> Iterator[str]:
    if plan.decisions:
        yield f"decide ({len(plan.decisions)}):"
    for group in Group:
        found = [d for d in plan.decisions if d.group is group]
        if found:
            yield f"  {group.value} ({len(found)})"
            yield from (line for same in _same(found) for line in _decision(same))


def _same(found: list[Decision]) -> list[list[Decision]]:
    """Group decisions that differ in their places alone."""
    groups: dict[tuple[str, str], list[Decision]] = {}
    for decision in found:
        groups.setdefault((decision.what, decision.hint), []).append(decision)
    return list(groups.values())


def _decision(same: list[Decision]) -> Iterator[str]:
    first, places = same[0], [place for d in same for place in (d.place, *d.also)]
    yield f"    {first.what}"
    yield from (f"      at {place}" for place in places[:WHERE])
    if len(places) > WHERE:
        yield f"      and at {len(places) - WHERE} more places"
    if first.hint:
        yield f"      -> {first.hint}"


def _texts(plan: Plan) -> Iterator[str]:
    if plan.texts:
        yield f"docstrings to write ({sum(t.count for t in plan.texts)}):"
    for texts in plan.texts:
        yield f"  {texts.file} ({texts.count})"
        yield from (f"    [{name}] {_listed(places)}" for name, places in texts.missing.items())


def _listed(places: tuple[str, ...]) -> str:
    """List the places of one class: its own text, and those of its fields or members."""
    by_kind: dict[str, list[str]] = {}
    for place in places:
        kind, _, rest = place.partition(".")
        by_kind.setdefault(kind, []).append(rest)
    return "; ".join(kind if found == [""] else f"{kind}: {', '.join(found)}" for kind, found in by_kind.items())


def _checklist(plan: Plan, *, applied: bool, has_vectors: bool) -> Iterator[str]:
    yield "left to do:"
    if not applied and (plan.files or plan.removed):
        yield "  [ ] read this, then write it: --apply (make bump … APPLY=1)"
    counts = Counter(d.group for d in plan.decisions)
    for group in (g for g in Group if counts[g]):
        yield f"  [ ] decide: {group.value} ({counts[group]})"
    yield "  [ ] make generate: it stops at what is not decided"
    count = sum(t.count for t in plan.texts)
    if count:
        yield f"  [ ] write {count_of(count, 'docstring')} in our own words; `generate --check` refuses to do without"
    if has_vectors:
        yield "  [ ] make vectors: watch the reference for what no schema says, above all three states and limits"
    yield "  [ ] make test"
    version = plan.comparison.version
    if version is not Version.NONE:
        yield f"  [ ] CHANGELOG.md: say what changes for users, with a {version.value} version"
