"""The inspector shows whatever bytes it gets: no input makes a traceback, in any form."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.tools.inspect_support import CONVERSATION, Inspect

LINES = CONVERSATION.read_bytes().splitlines()
NASTY = [
    *(b"1E400", b"-1E400", b"1e-400", b"9" * 400, b"-" + b"9" * 5000, b"1.0", b"NaN", b"null", b"true"),
    *(
        b'"\\ud83d"',
        b'"\\udc00\\ud83d"',
        b'"\xff\xfe"',
        b'"\xed\xa0\x80"',
        b'"\\u0000"',
        b'"\x00"',
        b'"\xe2\x80\xae\\u001b[2J"',
    ),
    *(
        b"{}",
        b"[]",
        b"[[]]",
        b'{"":{"":[]}}',
        b"[" * 500 + b"]" * 500,
        b'{"a":' * 2000 + b"1" + b"}" * 2000,
        b"[" * 9000,
    ),
]
"""Values that some part of a reader may choke on."""
NOISE = [b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\n", b"\r", b"\x1b[31m", b"->", b"<-", b"msg=", b" (12 ms)", b"'"]
VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d+(?:\.\d+)?|true|false|null')


def _survives(inspect: Inspect, data: bytes) -> None:
    """Show a log in every form: it ends as documented, and nothing in it reaches the terminal."""
    inspect.log.write_bytes(data)
    page = inspect.log.with_name("page.html")
    for options in ((), ("--json",), ("--html", str(page)), ("--last", "2", "--errors"), ("--exclude", "session/*")):
        run = inspect(str(inspect.log), *options)
        assert run.status in (0, 1, 2), run
        assert run.err.startswith("error: ") is (run.status == 2)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]", run.out + run.err)
        if options[:1] == ("--json",):
            told: list[Any] = [json.loads(line) for line in run.out.splitlines()]
            assert [entry["type"] for entry in told[-1:]] == ["summary"][: len(told)]


@st.composite
def _mutated(draw: st.DrawFn) -> bytes:
    """Put nasty values and noise into some lines of a conversation."""
    lines = [*draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6))]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        values = list(VALUE.finditer(line))
        spot = draw(st.none() | st.sampled_from(values)) if values else None
        if spot is not None:
            line = line[: spot.start()] + draw(st.sampled_from(NASTY)) + line[spot.end() :]
        else:
            place = draw(st.integers(0, len(line)))
            line = (
                line[:place]
                + draw(st.sampled_from(NOISE) | st.binary(max_size=4))
                + line[place + draw(st.integers(0, 3)) :]
            )
        lines[at] = line
    return b"\n".join(lines)


FUZZ = examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@FUZZ
@given(_mutated())
def test_mutated_logs(inspect: Inspect, data: bytes) -> None:
    _survives(inspect, data)


@FUZZ
@given(st.binary(max_size=200) | st.lists(st.sampled_from(NASTY + NOISE), max_size=12).map(b"".join))
def test_any_bytes(inspect: Inspect, data: bytes) -> None:
    _survives(inspect, data)


@pytest.mark.parametrize("nasty", NASTY, ids=[*map(str, range(len(NASTY)))])
@pytest.mark.slow
def test_a_nasty_value_in_every_place(nasty: bytes, inspect: Inspect) -> None:
    lines: list[bytes] = []
    for line in (LINES[0], LINES[1], LINES[3], LINES[22], LINES[23], LINES[24], LINES[40], LINES[48]):
        body = line[line.index(b"{") :]
        lines += [body[: spot.start()] + nasty + body[spot.end() :] for spot in VALUE.finditer(body)]
        lines.append(b'{"ts":' + nasty + b',"dir":' + nasty + b',"message":' + body + b',"x":' + nasty + b"}")
    _survives(inspect, b"\n".join(lines))
