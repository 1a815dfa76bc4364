"""Lines from chunks: any chunking gives the same lines, and a line that is too long costs no other."""

import random

import acp_msgspec as acp
import pytest
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=0, max_value=2**32), st.booleans())
def test_any_chunking(lines: list[bytes], seed: int, crlf: bool) -> None:
    lines = [line.replace(b"\n", b"").replace(b"\r", b"") for line in lines]
    stream = b"".join(line + (b"\r\n" if crlf else b"\n") for line in lines)
    splitter = acp.LineSplitter(limit=40)
    dice = random.Random(seed)
    found: list[bytes] = []
    while stream:
        cut = dice.randint(1, len(stream))
        found += splitter.feed(stream[:cut])
        stream = stream[cut:]
    assert found == [line for line in lines if line]
    assert splitter.pending == 0
    assert splitter.close() is None


def test_last_line_without_an_end() -> None:
    splitter = acp.LineSplitter()
    assert splitter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert splitter.pending == 4
    assert splitter.feed(memoryview(b":2}\r")) == []
    assert splitter.close() == b'{"b":2}'
    assert splitter.close() is None
    assert splitter.feed(bytearray(b"x\n")) == [b"x"]


def test_limit() -> None:
    splitter = acp.LineSplitter(limit=5)
    assert splitter.feed(b"12345\r\n12345\n") == [b"12345", b"12345"]
    assert splitter.feed(b"12345\r") == []
    assert splitter.feed(b"\n") == [b"12345"]
    with pytest.raises(acp.LineTooLong, match="A line is longer than 5 bytes") as caught:
        splitter.feed(b"a\n123456\nb\nc")
    assert (caught.value.limit, caught.value.lines) == (5, [b"a", b"b"])
    assert splitter.feed(b"\n") == [b"c"]


def test_a_long_line_is_noticed_before_its_end_and_told_once() -> None:
    splitter = acp.LineSplitter(limit=10)
    with pytest.raises(acp.LineTooLong):
        splitter.feed(b"x" * 11)
    for _ in range(3):
        assert splitter.feed(b"x" * 1000) == []
    assert splitter.pending == 0
    assert splitter.feed(b"x\nnext\n") == [b"next"]


def test_no_limit_of_64_kib() -> None:
    splitter = acp.LineSplitter()
    big = b"x" * 5_000_000
    found: list[bytes] = []
    for start in range(0, len(big), 4096):
        found += splitter.feed(big[start : start + 4096])
    assert found == []
    assert splitter.feed(b"\n") == [big]


def test_the_beginnings_of_lines_that_are_too_long() -> None:
    splitter = acp.LineSplitter(limit=5)
    with pytest.raises(acp.LineTooLong) as caught:
        splitter.feed(b"abcdefgh\nok\n123456789\r\nxyz")
    assert (caught.value.lines, caught.value.starts) == ([b"ok"], (b"abcdefgh", b"123456789\r"))
    with pytest.raises(acp.LineTooLong) as caught:
        splitter.feed(b"xyz" * 100)
    assert caught.value.starts == ((b"xyz" * 100)[:256],)
    assert splitter.feed(b"more\nok\n") == [b"ok"]


def test_a_limit_is_in_bytes_whatever_a_memoryview_counts_in() -> None:
    data = memoryview(b"a\n" + b"b" * 13 + b"\n").cast("I")
    with pytest.raises(acp.LineTooLong) as caught:
        acp.LineSplitter(limit=8).feed(data)
    assert caught.value.lines == [b"a"]


def test_where_the_lines_were_that_are_too_long() -> None:
    splitter = acp.LineSplitter(limit=3)
    with pytest.raises(acp.LineTooLong) as caught:
        splitter.feed(b"1234\na\n\nb\n1234\n1234\r\nc\n12345")
    assert (caught.value.lines, caught.value.places) == ([b"a", b"b", b"c"], (0, 2, 2, 3))
    assert len(caught.value.starts) == 4


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        ([b"123\r", b"\n"], [b"123"]),
        ([b"123", b"\r\n"], [b"123"]),
        ([b"123\r", b"4\n"], None),
        ([b"123\r", b"\r\n"], None),
        ([b"12\r\r\n"], [b"12\r"]),
        ([b"\r", b"\n", b"\r\n"], []),
        ([b"\r1\r", b"\n"], [b"\r1"]),
        ([b"123\r"], [b"123"]),
        ([b"123\r\r"], None),
    ],
)
def test_carriage_returns(chunks: list[bytes], found: list[bytes] | None) -> None:
    splitter = acp.LineSplitter(limit=3)
    lines: list[bytes] = []
    is_told = False
    for chunk in chunks:
        try:
            lines += splitter.feed(chunk)
        except acp.LineTooLong as why:
            is_told = True
            lines += why.lines
    last = splitter.close()
    assert (is_told, [*lines, *([last] if last else [])]) == (found is None, found or [])
