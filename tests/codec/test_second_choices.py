"""Second choices: valid values of a union that are not of the type which the fast path reads, read in one more pass."""

import copy
import importlib
import json
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast, get_args, get_origin

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v1, v1_unstable, v2
from acp_msgspec._decode import engine, wide
from acp_msgspec._decode.hook import dec_hook
from acp_msgspec._types.structs import GUARD
from acp_msgspec._types.unions import UnionSpec, spec_of
from acp_msgspec._types.unwrap import unwrap
from hypothesis import given
from hypothesis import strategies as st

from tests.codec.test_properties import same_examples
from tests.oracle.schema_files import LABELS

TEXT = {"uri": "file:///a", "text": "a"}
BLOB = {"uri": "file:///a", "blob": "YQ=="}
HTTP = {"type": "http", "name": "n", "url": "https://a.example", "headers": [{"name": "h", "value": "v"}]}
STDIO = {"name": "n", "command": "/bin/c", "args": ["-v"], "env": []}
TERMINAL = {"type": "terminal", "id": "t", "name": "Terminal", "args": ["login"]}
AGENT = {"id": "a", "name": "Agent"}
OPTION = {"value": "v", "name": "V"}
GROUP = {"group": "g", "name": "G", "options": [OPTION]}


def resource(contents: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": contents}


def prompt(*blocks: Any) -> dict[str, Any]:
    return {"sessionId": "s", "prompt": list(blocks)}


def new_session(*servers: Any) -> dict[str, Any]:
    return {"cwd": "/", "mcpServers": list(servers)}


def initialized(*methods: Any) -> dict[str, Any]:
    return {"protocolVersion": 1, "authMethods": list(methods)}


def with_options(*options: Any) -> dict[str, Any]:
    select = {"type": "select", "id": "c", "name": "C", "currentValue": "v", "options": list(options)}
    return {"sessionId": "s", "configOptions": [select]}


VALUES: dict[str, tuple[Any, Any]] = {
    "a blob": (v1.PromptRequest, prompt({"type": "text", "text": "t"}, resource(BLOB))),
    "a blob and a text": (v1.PromptRequest, prompt(resource(BLOB), resource(TEXT), resource({**BLOB, **TEXT}))),
    "HTTP": (v1.NewSessionRequest, new_session(HTTP, HTTP)),
    "HTTP, SSE and stdio": (v1.NewSessionRequest, new_session(STDIO, HTTP, {**HTTP, "type": "sse"}, STDIO)),
    "an unknown type of server": (v1.NewSessionRequest, new_session({**STDIO, "type": "later"})),
    "HTTP by its type, stdio by its keys": (v1.NewSessionRequest, new_session({**STDIO, "type": "http"})),
    "a terminal": (v1.InitializeResponse, initialized(AGENT, TERMINAL)),
    "an unknown method": (v1.InitializeResponse, initialized({**AGENT, "type": "later"})),
    "groups": (v1.NewSessionResponse, with_options(GROUP, GROUP)),
    "a group that is an option as well": (v1.NewSessionResponse, with_options({**GROUP, **OPTION}, GROUP)),
    "a value that is true": (
        v1.SetSessionConfigOptionRequest,
        {"sessionId": "s", "configId": "c", "type": "boolean", "value": True},
    ),
    "an unknown type of value": (
        v1.SetSessionConfigOptionRequest,
        {"sessionId": "s", "configId": "c", "type": "later", "value": "v"},
    ),
    "contents alone": (v1.EmbeddedResourceResource, BLOB),
    "contents in a list": (list[v1.EmbeddedResourceResource], [TEXT, BLOB]),
    "contents in a map": (dict[str, v1.EmbeddedResourceResource], {"a": BLOB}),
    "contents or nothing": (v1.EmbeddedResourceResource | None, BLOB),
    "a blob of version 2": (v2.PromptRequest, prompt(resource(BLOB))),
    "a method of the draft": (v1_unstable.InitializeResponse, initialized(TERMINAL)),
}


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("the repair engine was asked")


@pytest.mark.parametrize("name", VALUES)
def test_second_choices_are_read_without_the_engine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, value = VALUES[name]
    by_engine, repairs = engine.repair(kind, copy.deepcopy(value))
    assert repairs == []
    for function in ("repair", "repair_part", "read_strictly", "read_union"):
        monkeypatch.setattr(engine, function, refuse)
    text = json.dumps(value)
    for found in (acp.decode(text, type=kind), acp.Decoder(kind).decode(text), acp.decode_strict(text, type=kind)):
        assert found == by_engine
        assert repr(found) == repr(by_engine)
        assert acp.encode(found) == acp.encode(by_engine)
        assert pickle.loads(pickle.dumps(found)) == found
        assert copy.deepcopy(found) == found
    assert all(type(each).__module__.startswith("acp_msgspec.v") for each in structs_of(acp.decode(text, type=kind)))


def structs_of(value: Any) -> Iterator[msgspec.Struct]:
    """List the objects inside a value; each has the class that the package exports."""
    if isinstance(value, msgspec.Struct):
        yield value
        assert type(value) is getattr(importlib.import_module(type(value).__module__), type(value).__name__)
        for name in value.__struct_fields__:
            yield from structs_of(getattr(value, name))
    elif isinstance(value, dict | list):
        entries = cast("Any", value)
        for entry in entries.values() if isinstance(value, dict) else entries:
            yield from structs_of(entry)


HOSTILE: dict[str, tuple[Any, str]] = {
    "a key twice": (v1.EmbeddedResource, '{"type":"resource","resource":{"uri":"u","blob":"a","blob":"b"}}'),
    "a bad key before a good one": (
        v1.EmbeddedResource,
        '{"type":"resource","resource":{"uri":"u","blob":1,"blob":"b"}}',
    ),
    "a good key before a bad one": (
        v1.EmbeddedResource,
        '{"type":"resource","resource":{"uri":"u","blob":"b","blob":1}}',
    ),
    "a place twice": (
        v1.EmbeddedResource,
        '{"type":"resource","resource":{"uri":"u","blob":"b"},"resource":{"uri":"u","text":"t"}}',
    ),
    "a type twice": (
        v1.McpServer,
        '{"type":"http","name":"n","type":"sse","url":"u","headers":[]}',
    ),
    "null in place of a type": (v1.McpServer, '{"type":null,"name":"n","command":"c","args":[],"env":[]}'),
    "a number in place of a type": (v1.McpServer, '{"type":1,"name":"n","command":"c","args":[],"env":[]}'),
    "null in place of contents": (v1.EmbeddedResource, '{"type":"resource","resource":null}'),
    "a list in place of contents": (v1.EmbeddedResource, '{"type":"resource","resource":[]}'),
    "a huge integer": (v1.EmbeddedResourceResource, '{"uri":"u","blob":"b","_meta":{"n":1' + "0" * 3000 + "}}"),
    "nothing that decides": (v1.EmbeddedResourceResource, '{"uri":"u"}'),
    "options and groups": (v1.SessionConfigSelectOptions, json.dumps([OPTION, GROUP])),
    "a bad extension in a second choice": (v1.EmbeddedResourceResource, '{"uri":"u","blob":"b","_meta":7}'),
    "a bad item in a second choice": (v1.NewSessionRequest, json.dumps(new_session({**HTTP, "headers": [1]}))),
    "a terminal that does not fit": (v1.InitializeResponse, json.dumps(initialized(TERMINAL, {**TERMINAL, "args": 1}))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_second_choice_does_not_settle_is_left_to_the_engine(name: str) -> None:
    kind, text = HOSTILE[name]
    assert read(lambda: acp.decode_with_repairs(text, type=kind)) == read(
        lambda: engine.repair(kind, msgspec.json.decode(text))
    )


@pytest.mark.parametrize("text", ['"\\ud800"', "1" + "0" * 5000, "[" * 5000 + "]" * 5000, "1e999", '"\xff"', "{"])
def test_what_is_no_json_is_refused_beside_a_second_choice(text: str) -> None:
    data = '{"uri":"u","blob":"b","_meta":{"n":' + text + "}}"
    with pytest.raises(msgspec.DecodeError):
        acp.decode(data.encode("latin-1"), type=v1.EmbeddedResourceResource)


def read(decode: Callable[[], Any]) -> Any:
    """Read something, and give the text of the error if it is refused."""
    try:
        return decode()
    except msgspec.ValidationError as why:
        return str(why)


def unions() -> Iterator[tuple[str, Any]]:
    """List the unions of all schemas that have second choices."""
    for label in LABELS:
        module = importlib.import_module(f"acp_msgspec.{label}.types")
        for name, kind in vars(module).items():
            spec = spec_of(kind)
            if spec is not None and wide.place_of(spec) is not None:
                yield f"{label}.{name}", kind


UNIONS = dict(unions())


def spec_named(name: str) -> UnionSpec:
    """Return the spec of a union."""
    spec = spec_of(UNIONS[name])
    assert spec is not None
    return spec


@cache
def variants_of(name: str) -> list[dict[str, Any]]:
    """List the keys of each variant of a union, with the type of each."""
    spec = spec_named(name)
    kinds = [unwrap(kind) for group in (*spec.tagged.values(), spec.fallbacks) for kind in group]
    structs: list[Any] = [get_args(kind)[0] if get_origin(kind) is list else kind for kind in kinds]
    fields = [msgspec.structs.fields(kind) for kind in structs]
    return [{i.encode_name: i.type for i in found if i.name != GUARD} for found in fields]


SCALARS = st.sampled_from(
    ["", "a", True, False, None, 0, 1.5, [], {}, ["a"], {"a": "b"}, [{"name": "n", "value": "v"}]]
)


@st.composite
def objects(draw: st.DrawFn) -> tuple[str, Any]:
    """Make objects, or lists of objects, of the keys that the variants of one union have."""
    name = draw(st.sampled_from(sorted(UNIONS)))
    spec = spec_named(name)
    variants = variants_of(name)
    fields = {key: fitting(kind) | SCALARS for keys in variants for key, kind in keys.items()}
    if spec.tag_field is not None:
        fields[spec.tag_field] = st.sampled_from([*spec.tagged, "later", None, 1])
    fields["later"] = SCALARS
    whole = [{key: fitting(kind) for key, kind in keys.items()} for keys in variants]
    one = st.one_of(
        *(st.fixed_dictionaries(keys, optional={k: v for k, v in fields.items() if k not in keys}) for keys in whole),
        st.fixed_dictionaries({}, optional=fields),
    )
    in_list = any(get_origin(unwrap(kind)) is list for kind in spec.fallbacks)
    return name, draw(st.lists(one, max_size=3) if in_list else one)


def fitting(kind: Any) -> st.SearchStrategy[Any]:
    """Make values of a type that is not an object, as far as such are simple to make."""
    pool: list[Any] = [
        "a",
        True,
        None,
        [],
        {},
        ["a"],
        [{"name": "n", "value": "v"}],
        {"properties": {}, "type": "object"},
        1,
    ]
    found: list[Any] = []
    for value in pool:
        try:
            msgspec.convert(value, kind, dec_hook=dec_hook)
        except (msgspec.ValidationError, ValueError):
            continue
        found.append(value)
    return st.sampled_from(found or [None])


@same_examples(1500)
@given(objects())
def test_what_the_wide_form_reads_is_what_the_engine_reads(case: tuple[str, Any]) -> None:
    name, value = case
    kind, text = UNIONS[name], json.dumps(value)
    kinds: Any = list.__class_getitem__(kind)
    place = wide.place_of(spec_named(name))
    assert place is not None
    try:
        found = place.settle(msgspec.json.decode(text, type=place.kind, dec_hook=dec_hook))
    except ValueError:
        found = wide.NOTHING
    by_engine = read(lambda: engine.repair(kind, value))
    if found is not wide.NOTHING:
        assert by_engine == (found, [])
        assert repr(by_engine[0]) == repr(found)
    assert read(lambda: acp.decode_with_repairs(text, type=kind)) == by_engine
    assert read(lambda: acp.decode_with_repairs(f"[{text}]", type=kinds)) == read(lambda: engine.repair(kinds, [value]))


def test_unions_with_second_choices_are_read_in_their_wide_form() -> None:
    names = {name.rpartition(".")[2] for name in UNIONS}
    assert {"EmbeddedResourceResource", "McpServer", "AuthMethod", "SessionConfigSelectOptions"} <= names


def test_paths_of_errors_are_kept_up_to_a_bound() -> None:
    form = wide.WideForm(v1.PromptRequest)
    for number in range(10 * wide.MOST_PATHS):
        assert form.read(b"{}", f".later{number}") is wide.NOTHING
    assert len(form.leads) <= wide.MOST_PATHS
