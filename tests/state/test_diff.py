"""Unified diffs: those of `difflib`, in linear time."""

import difflib
import time

import pytest
from acp_msgspec.state import unified_diff
from hypothesis import given, settings
from hypothesis import strategies as st

DIFFS = {
    "nothing": ("", "", ""),
    "same": ("a\n", "a\n", ""),
    "new": (None, "a\n", "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n"),
    "empty and new": (None, "", ""),
    "emptied": ("a\nb\n", "", "--- f\n+++ f\n@@ -1,2 +0,0 @@\n-a\n-b\n"),
    "end of line": ("a\n", "a", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"),
    "no end of line": (
        "a",
        "b",
        "--- f\n+++ f\n@@ -1 +1 @@\n" + "".join(f"{x}\n\\ No newline at end of file\n" for x in ("-a", "+b")),
    ),
    "carriage return": ("a\r\n", "a\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\r\n+a\n"),
    "separators": ("a\x85b\u2028c\n", "a\x85b\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\x85b\u2028c\n+a\x85b\n"),
}


@pytest.mark.parametrize("case", DIFFS)
def test_small_diffs(case: str) -> None:
    old, new, wanted = DIFFS[case]
    assert unified_diff("f", old, new) == wanted


def test_the_path_is_escaped() -> None:
    diff = unified_diff("a\n+++ b\u202e", "x\n", "y\n")
    assert diff.splitlines()[:2] == ["--- a\\x0a+++ b\\u202e", "+++ a\\x0a+++ b\\u202e"]


def _lines(old: list[str], new: list[str]) -> list[str]:
    return unified_diff("f", "".join(old), "".join(new)).split("\n")


@settings(max_examples=200, deadline=None)
@given(*[st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=12)] * 2)
def test_diffs_are_those_of_difflib(old: list[str], new: list[str]) -> None:
    wanted = "".join(difflib.unified_diff(old, new, "f", "f"))
    assert unified_diff("f", "".join(old), "".join(new)) == wanted


def test_a_long_file_with_many_changes_is_compared() -> None:
    old = [f"{n}\n" if n % 3 else "\n" for n in range(20_000)]
    new = [f"{line[:-1]}!\n" if n % 1_000 == 1 else line for n, line in enumerate(old)]
    assert sum(line.startswith(("+", "-")) for line in _lines(old, new)) == 2 + 2 * 20


def test_a_diff_that_takes_too_long_to_compare() -> None:
    # Each line is there often, but never twice in the same company: the longest match is short wherever it is sought.
    old = ["start\n"] * 9 + [f"{n * n % 151}\n" for n in range(3_000)] + ["end\n"] * 9
    new = ["start\n"] * 9 + [f"{n * n * n % 151}\n" for n in range(3_000)] + ["end\n"] * 9
    before = time.process_time()
    lines = _lines(old, new)
    assert time.process_time() - before < 1
    assert lines[2] == "@@ -9,3004 +9,3004 @@"
    assert lines[6:9] == ["-4", "-9", "-16"]
    assert lines[-4:] == [" end", " end", " end", ""]


def test_a_diff_in_which_all_is_replaced() -> None:
    old = ["start\n"] * 9 + [f"{n}\n" for n in range(3000)] + ["end\n"] * 9
    new = ["start\n"] * 9 + [f"{n}!\n" for n in range(3000)] + ["end\n"] * 9
    lines = _lines(old, new)
    assert lines[:7] == ["--- f", "+++ f", "@@ -7,3006 +7,3006 @@", " start", " start", " start", "-0"]
    assert lines[3005:3007] == ["-2999", "+0!"]
    assert lines[6005:] == ["+2999!", " end", " end", " end", ""]
