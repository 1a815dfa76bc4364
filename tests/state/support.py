"""What the tests of sessions share: the modules, and making updates."""

import importlib
from typing import Any

from acp_msgspec import v1

from tests.from_schema import update_of as update_of

LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")
MODULES: dict[str, Any] = {label: importlib.import_module(f"acp_msgspec.{label}") for label in LABELS}
Chunk = v1.SessionUpdateAgentMessageChunk
Thought = v1.SessionUpdateAgentThoughtChunk
UserChunk = v1.SessionUpdateUserMessageChunk


def text_block(text: str) -> v1.TextContent:
    return v1.TextContent(text=text)
