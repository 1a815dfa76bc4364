"""The new lock: what is known of a source, and when it may take the place of the present lock."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from generator.errors import GeneratorError
from generator.pin.dates import checked_day
from generator.pin.origin import Origin, Pinned
from generator.source import LOCK, SCHEMA_DIR, UPSTREAM, Kind, Lock, LockEntry, load_lock

UNRELEASED = "unreleased"
BY_COMMIT, BY_REGISTRY, BY_HAND = "commit", "registry", "hand"
"""What may name the date of a lock."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `pin` would write: the lock, all files by their paths, and those of the present lock with their digests."""

    lock: Lock
    files: Mapping[str, bytes]
    former: Mapping[str, tuple[str, ...]]


def plan(
    pinned: Pinned, root: Path, *, release: str | None = None, date: str | None = None, drop_missing: bool = False
) -> Plan:
    """Return what is to be written for a source; nothing is written.

    Raises `GeneratorError` if a pinned file is missing in the source (unless `drop_missing` is set), if the commit is
    not known, or if the present lock knows better.
    """
    present = _present_lock(root)
    missing = [e.path for e in present.files if e.path not in pinned.files] if present is not None else []
    for name in [] if drop_missing else missing:
        reason = f": {pinned.moved[name]}" if name in pinned.moved else ""
        raise GeneratorError(
            f"has no {name}, which is pinned now{reason}",
            file=pinned.origin.shown,
            hint="--drop-missing does without it",
        )
    lock = _lock(pinned, present, release, date)
    files = {f"{SCHEMA_DIR}/{name}": file.stored for name, file in pinned.files.items()}
    files[f"{SCHEMA_DIR}/{LOCK}"] = lock.to_json().encode("utf-8")
    former = {f"{SCHEMA_DIR}/{e.path}": (e.sha256,) for e in present.files} if present is not None else {}
    return Plan(lock, files, former)


def _lock(pinned: Pinned, present: Lock | None, release: str | None, date: str | None) -> Lock:
    """Return the new lock. If the files are the same, the present lock supplies what is unknown about the source."""
    origin = pinned.origin
    entries = tuple(file.entry for file in pinned.files.values())
    same = present if present is not None and _same(entries, present, origin) else None
    if origin.commit is None:
        if same is None:
            raise GeneratorError(
                "the commit of these files is not known",
                file=origin.shown,
                hint="name it with --commit, or pin from a checkout",
            )
        return _completed(same, origin, release, date)
    if present is not None and origin.unverified and not present.unverified:
        if present.commit.startswith(origin.commit):
            return _completed(_part_of(present, entries, origin), origin, release, date)
        if same is not None:
            raise GeneratorError(
                f"has the files of {same.commit}, which is pinned from a checkout, and not those of {origin.commit} "
                "for certain",
                file=origin.shown,
                hint="leave --commit out, or pin from a checkout that has the commit",
            )
    known = same if same is not None and same.commit.startswith(origin.commit) else None
    day, dated_by = _date(origin, date, known)
    return Lock(
        repository=UPSTREAM,
        commit=known.commit if known else origin.commit,
        date=day,
        release=release or origin.release or (known.release if known else UNRELEASED),
        files=entries,
        unverified=origin.unverified,
        source=replace(origin.provenance, dated_by=dated_by),
    )


def _part_of(present: Lock, entries: tuple[LockEntry, ...], origin: Origin) -> Lock:
    """Return the part of a verified lock that has these files, or refuse those that it does not have."""
    known = {_identity(entry, origin): entry for entry in present.files}
    for entry in entries:
        if _identity(entry, origin) not in known:
            raise GeneratorError(
                f"is not that of {present.commit}, which is pinned from a checkout: {entry.path} differs",
                file=origin.shown,
                hint="name the commit that it is from, or pin from a checkout",
            )
    return replace(present, files=tuple(known[_identity(entry, origin)] for entry in entries))


def _completed(same: Lock, origin: Origin, release: str | None, date: str | None) -> Lock:
    """Return a lock with the date and the release that it did not know."""
    known = "" if same.release == UNRELEASED else same.release
    same = replace(same, release=release or known or origin.release or UNRELEASED)
    if same.date and date is None:
        return same
    day, dated_by = _date(origin, date, same)
    if same.date not in ("", day) and (same.source is None or same.source.dated_by == BY_COMMIT):
        raise GeneratorError(f"is of {same.date}, not of {day}", file=origin.shown, hint="leave --date out")
    return replace(same, date=day, source=replace(same.source, dated_by=dated_by) if same.source else None)


def _date(origin: Origin, date: str | None, known: Lock | None) -> tuple[str, str]:
    """Return the day of the lock, and what names it."""
    by = BY_COMMIT if origin.provenance.kind is Kind.CHECKOUT else BY_REGISTRY
    if date is None and origin.date is not None:
        return origin.date, by
    if date is None:
        return (known.date, known.source.dated_by if known.source else "") if known else ("", "")
    day = checked_day(date)
    if by == BY_COMMIT and origin.date not in (None, day):
        raise GeneratorError(f"is of {origin.date}, not of {day}", file=origin.shown, hint="leave --date out")
    return day, by if origin.date == day else BY_HAND


def _same(entries: tuple[LockEntry, ...], present: Lock, origin: Origin) -> bool:
    """Return whether the present lock has these files, and no others."""
    return {_identity(e, origin) for e in entries} == {_identity(e, origin) for e in present.files}


def _identity(entry: LockEntry, origin: Origin) -> tuple[str, ...]:
    """Return what makes two files the same: the original bytes, but of composed files the structure alone."""
    return (entry.path, entry.sha256) + (() if origin.is_composed else (entry.upstream_sha256,))


def _present_lock(root: Path) -> Lock | None:
    try:
        return load_lock(root)
    except GeneratorError:
        return None
