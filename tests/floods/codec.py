"""What a decode may cost: each of these gives the readers a few hostile megabytes in one message."""

from collections.abc import Callable

import acp_msgspec as acp
import pytest
from acp_msgspec import v1
from msgspec import DecodeError

from tests.floods.measure import flood

MIB = 1024 * 1024
REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[],"_meta":%b}}'
UPDATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    b'{"sessionUpdate":"tool_call_update","toolCallId":"t",%b}}}'
)


def _many(item: bytes, size: int) -> bytes:
    return (item + b",") * (size // (len(item) + 1)) + item


def _refused(read: Callable[[bytes], object], data: bytes) -> acp.MessageError:
    with pytest.raises(acp.MessageError) as caught:
        read(data)
    return caught.value


@flood()
async def codec_batch_of_zeros() -> None:
    """Millions of parts that are no messages."""
    why = _refused(v1.decode_client_batch, b"[%b]" % _many(b"0", 16 * MIB))
    assert why.batch is not None
    assert len(why.batch) == 101


@flood()
async def codec_batch_of_empty_objects() -> None:
    """The same with objects, each of which may be a message."""
    why = _refused(v1.decode_client_batch, b"[%b]" % _many(b"{}", 2 * MIB))
    assert why.batch is not None
    assert len(why.batch) == 101


@flood(memory=256 * MIB)
async def codec_list_of_zeros() -> None:
    """Bad items of a list that drops them."""
    data = UPDATE % (b'"content":[%b]' % _many(b"0", 2 * MIB))
    assert v1.decode_agent_message(data)


@flood(memory=256 * MIB)
async def codec_list_of_zeros_with_a_listener() -> None:
    """The same where somebody hears of repairs."""
    seen: list[acp.Skipped] = []
    v1.decode_agent_message(UPDATE % (b'"content":[%b]' % _many(b"0", 2 * MIB)), on_skip=seen.append)
    assert len(seen) == 101


@flood(memory=256 * MIB)
async def codec_list_of_repaired_items() -> None:
    """Items each of which has a field that is repaired."""
    data = UPDATE % (b'"locations":[%b]' % _many(b'{"path":"/","line":""}', MIB))
    assert v1.decode_agent_message(data)


@flood(memory=256 * MIB)
async def codec_list_of_unknown_tags() -> None:
    """Items of an unknown kind in a list that may not drop them."""
    prompt = REQUEST.replace(b'"prompt":[]', b'"prompt":[%b]') % (_many(b'{"type":"x"}', 2 * MIB), b"null")
    assert _refused(v1.decode_client_message, prompt).path == "$.params.prompt[0].type"


@flood(memory=256 * MIB)
async def codec_numbers_behind_a_bad_one() -> None:
    """A number out of range is looked for among many others."""
    meta = b'{"a":[%b,1e400]}' % _many(b"0", 2 * MIB)
    path = _refused(v1.decode_client_message, REQUEST % meta).path
    assert path.startswith("$.params._meta.a[")


@flood(memory=256 * MIB)
async def codec_fractions_behind_a_bad_one() -> None:
    """The same among fractions."""
    meta = b'{"a":[%b,1e400]}' % _many(b"0.5", 2 * MIB)
    assert _refused(v1.decode_client_message, REQUEST % meta).code == -32602


@flood()
async def codec_a_long_integer() -> None:
    """An integer of megabytes, whose conversion takes a time with the square of its length."""
    why = _refused(v1.decode_client_message, REQUEST % (b'{"a":%b}' % (b"9" * (4 * MIB))))
    assert (why.code, why.path) == (-32602, "$.params._meta.a")


@flood()
async def codec_many_long_integers() -> None:
    """Integers that are just not too long for Python, in a field that takes none of them."""
    v1.decode_agent_message(UPDATE % (b'"content":[%b]' % _many(b"9" * 4000, MIB)))


@flood()
async def codec_escapes_before_a_lone_surrogate() -> None:
    """Right pairs and backslashes in front of what is wrong."""
    for text in (rb"\ud83d\ude00", rb"\\", rb"\u00e9", b"\\" + rb"\ud83d\ude00" + b"\\"):
        why = _refused(v1.decode_client_message, REQUEST % (b'"%b\\ud83d"' % (text * (MIB // len(text)))))
        assert why.code == -32700


@flood()
async def codec_bytes_that_are_not_utf8() -> None:
    """A text that ends with half of a character."""
    assert _refused(v1.decode_client_message, REQUEST % (b'"%b\xc3"' % (b"x" * 8 * MIB))).code == -32700


@flood(memory=128 * MIB)
async def codec_deep_nesting() -> None:
    """Arrays and objects in each other, as deep as the line is long."""
    for part, end in ((b"[", b"]"), (b'{"a":', b"}")):
        nested = part * MIB + b"0" + end * MIB
        assert _refused(v1.decode_client_message, REQUEST % nested).code == -32700
        assert _refused(v1.decode_client_message, nested).code == -32700
        assert _refused(v1.decode_client_batch, b"[%b]" % nested).code == -32700


@flood(memory=256 * MIB)
async def codec_keys() -> None:
    """Many unknown keys, many equal ones, and long ones, beside something to repair."""
    unknown = b",".join(b'"%d":0' % n for n in range(150_000))
    same = b",".join([b'"kind":0'] * 150_000)
    v1.decode_agent_message(UPDATE % (b'"title":0,' + unknown))
    v1.decode_agent_message(UPDATE % same)
    long = b"k" * MIB
    why = _refused(v1.decode_client_message, REQUEST % (b'{"%b":{"%b":1e400}}' % (long, long)))
    assert len(why.path) < 400
    assert len(acp.encode(why.reply)) < 1000


@flood()
async def codec_long_names() -> None:
    """A method, a version and a tag of a megabyte are not repeated in the answer."""
    long = b"m" * (2 * MIB)
    for line in (
        b'{"jsonrpc":"2.0","id":1,"method":"%b"}' % long,
        b'{"jsonrpc":"%b","id":1,"method":"x"}' % long,
        REQUEST.replace(b'"prompt":[]', b'"prompt":[{"type":"%b"}]' % long) % b"null",
    ):
        why = _refused(v1.decode_client_message, line)
        assert len(acp.encode(why.reply)) < 1000
        assert len(str(why)) < 1000


@flood()
async def codec_lines_that_are_no_messages() -> None:
    """Short lines, each of which is refused."""
    for line in (b"0", b"{}", b"x", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"x"}'):
        for _ in range(2000):
            _refused(v1.decode_client_message, line)


@flood(memory=256 * MIB)
async def codec_validate() -> None:
    """Objects with much free JSON that are checked before they are sent."""
    acp.validate(v1.TextContent(text="x", meta={"a": [0] * 100_000}))
    with pytest.raises(DecodeError, match=r"\[100000\]`$"):
        acp.validate(v1.TextContent(text="x", meta={"a": [0] * 100_000 + [10**5000]}))
