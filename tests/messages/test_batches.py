"""Batches within bounds: how many messages are read, how many refusals are made, and what stands for the rest."""

import json
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import v1, v2

LIMIT, REFUSALS = 10_000, 100
INVALID, PARSE = -32600, -32700
GOOD = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}'
ANSWER = b'{"jsonrpc":"2.0","id":7,"result":{}}'


def _text(data: bytes) -> str:
    return data.decode()


MAKERS: list[Any] = [bytes, bytearray, memoryview, _text]


def _refused(data: Any) -> acp.MessageError:
    with pytest.raises(acp.MessageError) as caught:
        v1.decode_client_batch(data)
    return caught.value


def _array(item: bytes, count: int, last: bytes = b"") -> bytes:
    return b"[" + b",".join([item] * count + [last] * bool(last)) + b"]"


def test_as_many_messages_as_may_be() -> None:
    assert len(v1.decode_client_batch(_array(GOOD, LIMIT))) == LIMIT
    assert len(v1.decode_client_batch(_array(ANSWER, 3000, b'{"jsonrpc":"2.0","id":1,"result":[0,1]}'))) == 3001
    # Commas alone are no messages.
    many = b'{"jsonrpc":"2.0","method":"_x","params":[%b]}' % b",".join([b"0"] * 20_000)
    assert len(v1.decode_client_batch(_array(many, 3))) == 3


@pytest.mark.parametrize("before", ["", "\ufeff", " \n"])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("item", [GOOD, GOOD.replace(b's"}', b'\xc3\xa9"}')])
def test_more_messages_than_may_be(before: str, make: Any, item: bytes) -> None:
    text = before.encode() + b"[ " + b" ,\t".join([item] * LIMIT) + b"  , " + ANSWER + b" ," + GOOD + b"]"
    why = _refused(make(text))
    assert (why.code, why.path, why.id, why.count) == (INVALID, "$", None, 0)
    assert why.batch is not None
    assert len(why.batch) == LIMIT + 1
    assert all(isinstance(m, v1.CancelNotificationMessage) for m in why.batch[:-1])
    last = why.batch[-1]
    assert isinstance(last, acp.MessageError)
    assert (last.unread, last.reply.id, last.reply.error.code) == (why.unread, None, INVALID)
    assert str(why) == "Only the first 10000 messages of the batch were read"
    assert why.unread is not None
    assert text[why.unread :] == ANSWER + b" ," + GOOD + b"]"


def test_what_is_beyond_the_bound_must_be_json_all_the_same() -> None:
    assert _refused(_array(GOOD, LIMIT + 5)[:-1]).code == PARSE
    assert _refused(_array(GOOD, LIMIT + 5, b"nope")).code == PARSE
    assert _refused(b'{"a":[' + b"0," * LIMIT + b"0]}").code == INVALID


@pytest.mark.parametrize("item", [b"0", b"null", b'"x"', b"[]", b"{}", b'{"a":1}', b"1e400"])
def test_refusals_without_an_id_are_bounded(item: bytes) -> None:
    why = _refused(_array(item, 500, GOOD))
    assert why.batch is not None
    *refused, good, last = why.batch
    assert len(refused) == REFUSALS
    assert isinstance(good, v1.CancelNotificationMessage)
    assert (last.count, last.unread, last.code, last.reply.id) == (400, None, INVALID, None)
    assert str(last) == "400 more messages of the batch were refused"
    assert (why.path[:4], why.code, why.count) == ("$[0]", INVALID, 1)


def test_a_request_is_refused_under_its_id_however_many_there_are() -> None:
    requests = [json.dumps({"jsonrpc": "2.0", "id": n, "method": "x"}) for n in range(300)]
    why = _refused("[" + ",".join(requests) + "]")
    assert why.batch is not None
    assert [m.reply.id for m in why.batch] == list(range(300))


def test_both_bounds_at_once() -> None:
    why = _refused(_array(b"0", LIMIT + 1000))
    assert why.batch is not None
    assert len(why.batch) == REFUSALS + 1
    last = why.batch[-1]
    assert (last.count, last.unread) == (LIMIT - REFUSALS, 1 + 2 * LIMIT)
    assert str(last).startswith("9900 more messages of the batch were refused. Only the first 10000 messages")


def test_what_is_never_answered_is_listed() -> None:
    bad = b'{"jsonrpc":"2.0","method":"session/cancel","params":{}}'
    with pytest.raises(acp.MessageError) as caught:
        v2.decode_client_batch(_array(bad, 300))
    assert caught.value.batch is not None
    assert len(caught.value.batch) == 300
    assert all(m.reply is None for m in caught.value.batch)
