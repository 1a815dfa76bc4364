"""The queue of a turn: what is merged, and how long it may become."""

from acp_msgspec import v1
from acp_msgspec.aio import Content, PermissionAsked, SessionUpdated, Text, Thought, ToolUpdated
from acp_msgspec.aio._conversation.pending import MAX_CHANGES, PendingChanges
from acp_msgspec.state import CommandsChanged, Role, ToolCallView


def _all(pending: PendingChanges) -> list[object]:
    return [pending.take() for _ in range(len(pending))]


def _tool(call: str, title: str) -> ToolUpdated:
    return ToolUpdated(call=ToolCallView(turn=1, tool_call_id=call, title=title))


def test_nothing_is_merged_as_long_as_the_reader_keeps_up() -> None:
    pending = PendingChanges(merges=False)
    changes: list[object] = [Text(text="a"), Text(text="b"), _tool("1", "x"), _tool("1", "y")]
    for change in changes:
        pending.put(change)
    assert _all(pending) == changes


def test_merging_keeps_the_order() -> None:
    pending = PendingChanges(merges=True)
    for change in (
        Text(text="a"),
        Text(text="b"),
        Text(text="c", message_id="2"),
        Thought(text="d"),
        Thought(text="e"),
        Text(text="f", message_id="2"),
        _tool("1", "x"),
        _tool("1", "y"),
        _tool("2", "z"),
        _tool("1", "last"),
    ):
        pending.put(change)
    assert _all(pending) == [
        Text(text="ab"),
        Text(text="c", message_id="2"),
        Thought(text="de"),
        Text(text="f", message_id="2"),
        _tool("1", "y"),
        _tool("2", "z"),
        _tool("1", "last"),
    ]
    pending.put(Text(text="new"))
    assert _all(pending) == [Text(text="new")]


def test_a_long_queue_merges_what_is_about_the_same() -> None:
    pending = PendingChanges(merges=False)
    for number in range(20 * MAX_CHANGES):
        pending.put(Text(text=str(number % 10)))
        pending.put(_tool(str(number % 7), f"{number}"))
        pending.put(SessionUpdated(change=CommandsChanged()))
    assert len(pending) <= MAX_CHANGES + 10
    found = _all(pending)
    text = "".join(c.text for c in found if isinstance(c, Text))
    assert text == "0123456789" * (2 * MAX_CHANGES)
    last = {c.call.tool_call_id: c.call.title for c in found if isinstance(c, ToolUpdated)}
    assert last == {str(n % 7): str(n) for n in range(20 * MAX_CHANGES - 7, 20 * MAX_CHANGES)}


def test_what_stands_for_itself_is_never_merged() -> None:
    pending = PendingChanges(merges=True)
    block = Content(block=v1.ImageContent(data="", mime_type="image/png"), role=Role.AGENT)
    asked = PermissionAsked(request=None)
    for change in (block, block, asked, asked):
        pending.put(change)
    assert len(_all(pending)) == 4
