"""What tolerance costs: nothing much on good input, little on bad. Ratios of one run.

Run with `make bench-tolerance`.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import msgspec
from acp_msgspec import v1
from acp_msgspec._decode.hook import dec_hook
from rich.console import Console
from rich.table import Table

from benchmarks.lines import CHOICES
from benchmarks.timing import compare

PAYLOADS = Path(__file__).parent / "payloads"
KINDS: dict[str, tuple[str, Any]] = {
    "agent_message_chunk": ("params", v1.SessionNotification),
    "tool_call_small": ("params", v1.SessionNotification),
    "tool_call_update_20k_diff": ("params", v1.SessionNotification),
    "session_prompt_3_blocks": ("params", v1.PromptRequest),
    "initialize_response": ("result", v1.InitializeResponse),
}
BAD_FIELD = (
    b'{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk",'
    b'"content":{"type":"text","text":"I see."},"messageId":7}}'
)
ERROR = b'{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"Internal error","data":{"details":"none"}}}'


def good_input(console: Console) -> None:
    """Hold the package's decoder against a bare msgspec decoder of the same type."""
    table = Table("payload", "bytes", "bare msgspec", "Decoder.decode", "acp.decode / msgspec.json.decode")
    for name, (part, kind) in KINDS.items():
        whole = json.loads((PAYLOADS / f"{name}.json").read_bytes())
        data = json.dumps(whole[part], ensure_ascii=False, separators=(",", ":")).encode()
        bare = msgspec.json.Decoder(kind, dec_hook=dec_hook).decode
        ours = acp.Decoder(kind).decode
        found = compare(
            {
                "bare": partial(bare, data),
                "ours": partial(ours, data),
                "function": partial(acp.decode, data, type=kind),
                "msgspec": partial(msgspec.json.decode, data, type=kind, dec_hook=dec_hook),
            }
        )
        table.add_row(
            name,
            str(len(data)),
            f"{found['bare'] * 1e9:,.0f} ns",
            f"{found['ours'] / found['bare']:.2f} x",
            f"{found['function'] / found['msgspec']:.2f} x",
        )
    console.print(table)


def bad_input(console: Console) -> None:
    """Time a repair, and how repairs grow with the size of the message."""
    decoder = acp.Decoder(v1.SessionNotification)
    one = compare({"one": partial(decoder.decode, BAD_FIELD)})["one"]
    console.print(f"one bad optional field in a chunk: {one * 1e6:.1f} µs in all")
    update = acp.Decoder(v1.ToolCallUpdate)
    times: dict[int, float] = {}
    for size in (1_000, 10_000):
        good = {"type": "content", "content": {"type": "text", "text": "line"}}
        items: list[Any] = [good if i % 10 else {"type": "content"} for i in range(size)]
        data = json.dumps({"toolCallId": "t", "content": items}).encode()
        times[size] = compare({"list": partial(update.decode, data)}, rounds=9)["list"]
        console.print(f"{size:,} items, every tenth bad: {times[size] * 1e3:.2f} ms")
    console.print(f"10 times the items take {times[10_000] / times[1_000]:.1f} times as long")


def in_pairs(console: Console) -> None:
    """Hold lines with second choices against lines of their size with first ones, and answers against a good one."""
    pairs = {
        "prompt: blob / text": ("session_prompt_blob", "session_prompt_text"),
        "session/new: HTTP / stdio": ("session_new_http", "session_new_stdio"),
        "initialize: terminal / agent": ("initialize_terminal", "initialize_agent"),
        "options: grouped / flat": ("config_options_grouped", "config_options_flat"),
    }
    table = Table("what", "first", "second / first", "bar")
    for what, (second, first) in pairs.items():
        found = compare({"second": reading(second), "first": reading(first)})
        table.add_row(what, f"{found['first'] * 1e6:.2f} µs", f"{found['second'] / found['first']:.2f} x", "<= 2.5 x")
    good = reading("initialize_agent")
    untyped = partial(v1.decode_agent_message, line_of("initialize_agent"))
    answers = {"error response": partial(v1.decode_agent_message, ERROR, method_of), "without method_of": untyped}
    for what, call in answers.items():
        found = compare({"this": call, "good": good})
        table.add_row(
            f"{what} / response to initialize",
            f"{found['good'] * 1e6:.2f} µs",
            f"{found['this'] / found['good']:.2f} x",
            "<= 1.3 x",
        )
    console.print(table)


def line_of(name: str) -> bytes:
    """Write one of the lines of the comparison."""
    return json.dumps(CHOICES[name], separators=(",", ":")).encode()


def reading(name: str) -> Callable[[], object]:
    """Give the call that reads a line; a response is asked for by its method."""
    read = v1.decode_client_message if "method" in CHOICES[name] else v1.decode_agent_message
    if "config" in name:
        read = v1.decode_agent_message
    return partial(read, line_of(name), method_of)


def method_of(_: object) -> str:
    """Stand for a connection's table of the requests that it has sent."""
    return "initialize"


def bad_lists(console: Console) -> None:
    """Hold 1 MB of bad items against 1 MB of good ones."""
    decoder = acp.Decoder(v1.ToolCallUpdate)
    good = {"type": "content", "content": {"type": "text", "text": "line"}}
    bad: dict[str, Any] = {
        "no object": 0,
        "an empty object": {},
        "no content": {"type": "content"},
        "bad content": {"type": "content", "content": {"type": "text", "text": 7}},
    }
    one = compare({"list": partial(decoder.decode, filled(good))}, rounds=5)["list"]
    for what, item in bad.items():
        found = compare({"list": partial(decoder.decode, filled(item))}, rounds=5)["list"]
        console.print(f"1 MB of bad items, {what}: {found / one:.1f} times 1 MB of good ones (bar: 20)")


def filled(item: Any) -> bytes:
    """Write a tool call's update whose content is 1 MB of one item."""
    text = json.dumps(item, separators=(",", ":"))
    items = ",".join([text] * (1_000_000 // (len(text) + 1)))
    return f'{{"toolCallId":"t","content":[{items}]}}'.encode()


def main() -> None:
    """Print the figures."""
    console = Console(highlight=False)
    good_input(console)
    in_pairs(console)
    bad_input(console)
    bad_lists(console)


if __name__ == "__main__":
    main()
