"""A file of rules in TOML; whatever is wrong with it is one line."""

import os
import tomllib
from pathlib import Path
from typing import Any, TypeGuard, cast

from msgspec import Struct

from .rule import DECIDES, Decide, Rule, RulesError

MAX_FILE = 1024 * 1024
"""The maximum size of a file in bytes."""
MAX_RULES = 1000
_TOP = ("root", "otherwise", "rule")
_CONDITIONS = ("kind", "tool", "path", "command")
_KEYS = ("decide", *_CONDITIONS, "outside", "why")


class RulesFile(Struct, frozen=True):
    """What a file of rules says."""

    rules: list[Rule]
    root: Path | None
    otherwise: Decide


def read_rules(path: str | os.PathLike[str]) -> RulesFile:
    """Read a file of rules. Raises `RulesError`, a line with the file and the fault."""
    try:
        return _from_table(_table(Path(path)), Path(path).parent)
    except RulesError as why:
        raise RulesError(f"{os.fspath(path)}: {why}") from None


def _table(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except (OSError, ValueError) as why:
        reason = why.strerror if isinstance(why, OSError) else None
        raise RulesError(f"cannot be read: {reason or why}") from None
    if len(data) > MAX_FILE:
        raise RulesError(f"is larger than {MAX_FILE} bytes")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise RulesError("is not UTF-8") from None
    except (tomllib.TOMLDecodeError, ValueError) as why:
        raise RulesError(f"is not valid TOML: {' '.join(str(why).split())}") from None
    except RecursionError:
        raise RulesError("is nested too deeply") from None


def _from_table(table: dict[str, Any], folder: Path) -> RulesFile:
    _check_keys(table, _TOP, "")
    root, otherwise, entries = table.get("root"), table.get("otherwise", "ask"), table.get("rule", [])
    if not (root is None or (isinstance(root, str) and root and "\0" not in root)):
        raise RulesError("`root` must be the path of a folder")
    if otherwise not in DECIDES:
        raise RulesError(f"`otherwise` is {otherwise!r}: use one of {', '.join(DECIDES)}")
    if not _is_list(entries):
        raise RulesError("`rule` must be a list of tables: write [[rule]]")
    if len(entries) > MAX_RULES:
        raise RulesError(f"has more than {MAX_RULES} rules")
    rules = [_rule(number, entry) for number, entry in enumerate(entries, 1)]
    return RulesFile(rules, None if root is None else folder / root, otherwise)


def _rule(number: int, entry: Any) -> Rule:
    place = f"rule {number}: "
    if not isinstance(entry, dict):
        raise RulesError(f"{place}must be a table: write [[rule]]")
    given = cast("dict[str, Any]", entry)
    _check_keys(given, _KEYS, place)
    if "decide" not in given:
        raise RulesError(f"{place}`decide` is missing: one of {', '.join(DECIDES)}")
    if not isinstance(given.get("outside", False), bool):
        raise RulesError(f"{place}`outside` must be true or false")
    if not isinstance(given.get("why", ""), str):
        raise RulesError(f"{place}`why` must be a text")
    for key in _CONDITIONS:
        if key in given and not given[key]:
            raise RulesError(f"{place}`{key}` is empty: leave it out, or name what it must be")
    return Rule(**given)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _check_keys(given: dict[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in given:
        if key not in known:
            raise RulesError(f"{place}unknown key {key!r}: known are {', '.join(known)}")
