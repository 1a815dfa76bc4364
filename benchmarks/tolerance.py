"""What tolerance costs: nothing much on good input, little on bad. Ratios of one run.

Run with `make bench-tolerance`.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import msgspec
from acp_msgspec import v1
from acp_msgspec._decode.hook import dec_hook
from rich.console import Console
from rich.table import Table

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


def main() -> None:
    """Print the figures."""
    console = Console(highlight=False)
    good_input(console)
    bad_input(console)


if __name__ == "__main__":
    main()
