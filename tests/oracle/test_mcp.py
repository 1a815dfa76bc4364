"""Content made with the official MCP types is ACP content, and is written back unchanged."""

import importlib
import json
from typing import Any

import acp_msgspec as acp
import mcp.types as mcp
import pytest

ANNOTATIONS = mcp.Annotations(audience=["user", "assistant"], priority=0.25, last_modified="2025-01-12T15:00:58Z")
META: dict[str, Any] = {"vendor.example/key": {"nested": [1, 2.5, None, "x"]}}

CONTENT: dict[str, mcp.ContentBlock] = {
    "text": mcp.TextContent(type="text", text="Grüße, 世界"),
    "text with everything": mcp.TextContent(type="text", text="", annotations=ANNOTATIONS, _meta=META),
    "image": mcp.ImageContent(type="image", data="aGk=", mime_type="image/png", annotations=ANNOTATIONS, _meta=META),
    "audio": mcp.AudioContent(type="audio", data="aGk=", mime_type="audio/wav", annotations=ANNOTATIONS, _meta=META),
    "resource link": mcp.ResourceLink(type="resource_link", name="main.py", uri="file:///src/main.py"),
    "resource link with everything": mcp.ResourceLink(
        type="resource_link",
        name="main.py",
        title="Main",
        uri="file:///src/main.py",
        description="The entry point",
        mime_type="text/x-python",
        size=4711,
        annotations=ANNOTATIONS,
        _meta=META,
    ),
    "embedded text": mcp.EmbeddedResource(
        type="resource",
        resource=mcp.TextResourceContents(uri="file:///a.txt", mime_type="text/plain", text="a", _meta=META),
        annotations=ANNOTATIONS,
        _meta=META,
    ),
    "embedded blob": mcp.EmbeddedResource(
        type="resource", resource=mcp.BlobResourceContents(uri="file:///a.bin", blob="AAEC", _meta=META)
    ),
}


@pytest.mark.parametrize("label", ["v1", "v1_unstable", "v2", "v2_unstable"])
@pytest.mark.parametrize("name", list(CONTENT))
def test_content(name: str, label: str) -> None:
    module = importlib.import_module(f"acp_msgspec.{label}")
    written = CONTENT[name].model_dump_json(by_alias=True, exclude_none=True)
    value, skipped = acp.decode_with_repairs(written, type=module.ContentBlock)
    assert skipped == []
    assert json.loads(acp.encode(value)) == json.loads(written)
    assert acp.decode_strict(written, type=module.ContentBlock) == value
    acp.validate(value)
    # And back again: the MCP types read what was written as the content that it was.
    again = type(CONTENT[name]).model_validate_json(acp.encode(value))
    assert again == CONTENT[name]


@pytest.mark.parametrize("name", list(CONTENT))
def test_nulls_of_a_plain_dump(name: str) -> None:
    module = importlib.import_module("acp_msgspec.v1")
    value = acp.decode(CONTENT[name].model_dump_json(by_alias=True), type=module.ContentBlock)
    assert json.loads(acp.encode(value)) == json.loads(CONTENT[name].model_dump_json(by_alias=True, exclude_none=True))


def test_icons_are_part_of_the_second_version() -> None:
    module = importlib.import_module("acp_msgspec.v2")
    link = mcp.ResourceLink(
        type="resource_link",
        name="n",
        uri="file:///n",
        icons=[mcp.Icon(src="https://example.com/i.png", mime_type="image/png", sizes=["48x48"])],
    )
    written = link.model_dump_json(by_alias=True, exclude_none=True)
    value, skipped = acp.decode_with_repairs(written, type=module.ContentBlock)
    assert skipped == []
    assert json.loads(acp.encode(value)) == json.loads(written)
