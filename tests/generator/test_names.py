"""Names of a schema that meet names of the package: what was generated can be imported and used, or the run stops.

The names come from the templates, the emitted modules and the runtime themselves, so that one that comes into use
tomorrow is tried, too.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_msgspec import CatchAll, aio
from acp_msgspec._rpc import envelopes as _envelopes
from acp_msgspec._types import enums as _enums
from acp_msgspec._types import structs as _structs

from generator import cli, names
from generator.emit import check, runtime_files, views
from generator.emit.imports import HELPERS
from generator.errors import GeneratorError
from generator.pipeline import generate_single
from tests.support import ROOT, generate_case

pytestmark = pytest.mark.slow

EMITTED = sorted((ROOT / "generated" / "acp_msgspec").glob("v*/*.py"))
BOLD = "\U0001d427\U0001d41a\U0001d426\U0001d41e"  # "name" in bold letters
ODD = ("$ref", "_meta", "__init__", "__struct_fields__", "", "1", "-", "\u200b", "ﬁ", "名", BOLD, "ß", "ŉ", "a b", "½",
       "_x", "class", "None", "match", "self", "cls", "read", "kind", "mro", "name", "value", "_ignore_", "_missing_",
       "é", "e\u0301", "\u2126", "a\nb", 'a"b', "a\\b", "a'b", "😀\0", "{x}", "{{ x }}", "#x", "extra",
       "untagged_")  # fmt: skip
"""Keys that are no plain names, or that Python knows; most cannot be those of a class."""


def _used_names() -> set[str]:
    """List the names that templates and views write, and what the classes have that the emitted ones are based on."""
    found: set[str] = set(HELPERS) | names.CONNECTION_NAMES | names.RESERVED_FIELDS
    for template in (*(ROOT / "templates").glob("*.py.jinja"), ROOT / "templates" / "aio_serving.jinja"):
        found |= names.words_of(template.name)
    bases: list[type] = [_structs.AcpStruct, _envelopes.Envelope, CatchAll, _enums.OpenStrEnum, aio.Connection]
    for kind in bases:
        found |= {n for k in (kind, type(kind)) for n in vars(k)}
    return found | PUBLIC | {"str", "int", "float", "bool", "list", "dict", "builtins", "classmethod", "Warning"}


def _public_names() -> set[str]:
    """List what the message module defines for all its users, envelopes and routing aside."""
    tree = ast.parse((ROOT / "generated" / "acp_msgspec" / "v1" / "messages.py").read_text(encoding="utf-8"))
    found = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    found |= {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    routed = {f"{end}{kind}" for end in ("Agent", "Client") for kind in ("Request", "Response", "Notification")}
    ours = {n for n in found if not n.startswith("_") and (not n.endswith("Message") or n.startswith("MessageFrom"))}
    modules = {"aio", "build", "conversation", "enums", "messages", "types"}
    return (ours - routed - {"ProtocolLevelNotification"}) | {"Method", *modules}


PUBLIC = _public_names()
USED = sorted(_used_names())
KEYS = sorted({*USED, *ODD})
SMALL: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


PROPERTIES = [key for key in KEYS if all(c >= " " and c not in '"\\' for c in key)]


def _write(folder: Path, definitions: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.json").write_text(json.dumps({"$defs": definitions}), encoding="utf-8")
    return folder / "schema.json"


def _refusal(folder: Path, definitions: dict[str, Any]) -> GeneratorError:
    """Generate something that must be refused, with its place."""
    with pytest.raises(GeneratorError) as caught:
        generate_single(_write(folder, definitions), "case", None, lambda _: None, folder)
    assert caught.value.pointer or "the method" in caught.value.problem
    return caught.value


def _run(folder: Path, definitions: dict[str, Any], code: str) -> None:
    generate_case(_write(folder, definitions), "case", folder)
    prelude = "import json, sys, importlib, pathlib, msgspec\nimport acp_msgspec as acp\nfrom acp_msgspec import case\n"
    prelude += "wanted = json.load(sys.stdin)\ndefs = json.loads(pathlib.Path('schema.json').read_text())['$defs']\n"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", prelude + code],
        cwd=folder,
        input=json.dumps(list(definitions)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr[-3000:]


def _object(key: str, *, keeps: bool) -> dict[str, Any]:
    """Describe an object with a property `key` first, and properties of every kind behind it."""
    later: dict[str, Any] = {
        "aText": {"type": "string", "default": "x"},
        "aNumber": {"type": "integer", "format": "uint32", "default": 7},
        "aBound": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
        "aFloat": {"type": "number", "minimum": 0, "default": 1.5},
        "aFlag": {"type": "boolean", "default": True},
        "list": {"type": "array", "items": {"type": "string"}, "x-deserialize-skip-invalid-items": True},
        "aMap": {"type": "object", "additionalProperties": {"type": "string"}},
        "aUri": {"type": ["string", "null"], "format": "uri", "x-deserialize-default-on-error": True},
        "aRole": {"anyOf": [{"$ref": "#/$defs/Role"}, {"type": "null"}]},
        "aThing": {"anyOf": [{"$ref": "#/$defs/Thing"}, {"type": "null"}]},
        "a-odd": {"type": "array", "items": {"$ref": "#/$defs/Thing"}, "default": []},
        "aFree": {},
    }
    rest = {k: v for k, v in later.items() if k != key}
    made = {"type": "object", "properties": {key: {"type": "string", "default": "first"}, **rest}}
    return {**made, "additionalProperties": True} if keeps else made


COMMON = {"Role": {"type": "string", "enum": ["a", "b"]}, "Thing": SMALL}
OBJECTS = """
for name in wanted:
    kind, node = getattr(case, name), defs[name]
    acp.Decoder(kind)
    if name in ("Role", "Thing"):
        continue
    key = next(iter(node["properties"]))
    text = json.dumps({key: "given", "a-odd": [{"text": "t"}], "aBound": 3, "aRole": "b"})
    value = acp.decode(text, type=kind)
    out = json.loads(acp.encode(value))
    assert out[key] == "given" and out["a-odd"] == [{"text": "t"}] and out["aNumber"] == 7, (name, key, out)
    assert json.loads(acp.encode(acp.decode(acp.encode(value), type=kind))) == out, (name, key, out)
    assert json.loads(acp.encode(acp.decode("{}", type=kind)))[key] == "first", (name, key)
    fields = [f for f in kind.__annotations__ if "ClassVar" not in str(kind.__annotations__[f])]
    built = kind(**{fields[0]: "built"})
    assert json.loads(acp.encode(built))[key] == "built", (name, key, fields)
    repr(value), value == built
    holder = acp.decode(json.dumps({"held": json.loads(text)}), type=getattr(case, f"{name}Holder", kind))
    # What does not fit is repaired without the help of msgspec.
    repaired = acp.decode(json.dumps({key: "given", "aUri": 5}), type=kind)
    assert json.loads(acp.encode(repaired))[key] == "given", (name, key)
"""


@pytest.mark.parametrize("keeps", [False, True], ids=["struct", "catch-all"])
def test_properties(keeps: bool, tmp_path: Path) -> None:
    definitions = {f"Owner{i}": _object(key, keeps=keeps) for i, key in enumerate(PROPERTIES)}
    if keeps:  # msgspec meets a catch-all by its hook, where it is a field
        for i in range(len(PROPERTIES)):
            definitions[f"Owner{i}Holder"] = {
                "type": "object",
                "properties": {"held": {"$ref": f"#/$defs/Owner{i}"}},
                "required": ["held"],
            }
    code = OBJECTS.replace("for name in wanted:", "for name in [w for w in wanted if not w.endswith('Holder')]:")
    _run(tmp_path, {**COMMON, **definitions}, code)


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\nb", "\0"])
def test_keys_that_msgspec_does_not_read(key: str, tmp_path: Path) -> None:
    definitions = {"A": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}}
    assert f"the key {key!r} has a quotation mark, a backslash or a control character" in str(
        _refusal(tmp_path, definitions)
    )


@pytest.mark.parametrize("key", ["Thing", "Role", "field", "text", "fi"])
def test_a_property_that_would_hide_a_definition(key: str, tmp_path: Path) -> None:
    thing = {"type": "object", "properties": {key: {"$ref": f"#/$defs/{key}"}, "other": {"$ref": f"#/$defs/{key}"}}}
    definitions: dict[str, Any] = {
        key: {**SMALL, "required": []} if key == "Thing" else {"type": "string", "enum": ["x", "y"]},
        "Owner": {**thing, "required": ["other", key]},
    }
    if key == "Thing":
        definitions[key]["properties"]["text"]["default"] = ""
    value = {"text": "t"} if key == "Thing" else "x"
    code = f"text = json.dumps({{{key!r}: {value!r}, 'other': {value!r}}})\n"
    code += "assert json.loads(acp.encode(acp.decode(text, type=case.Owner))) == json.loads(text)\n"
    _run(tmp_path, definitions, code)


def test_members(tmp_path: Path) -> None:
    members: dict[str, str] = {}
    for key in KEYS:
        members.setdefault(names.member_of(key, None), key)
    values = list(members.values())
    nodes = [{"type": "string", "const": v} for v in values]
    open_end: dict[str, Any] = {"type": "string"}
    definitions: dict[str, Any] = {
        "Closed1": {"type": "string", "enum": values},
        "Open1": {"anyOf": [*nodes, open_end]},
        "Holder": {
            "type": "object",
            "properties": {"held": {"type": "array", "items": {"$ref": "#/$defs/Open1"}, "default": values}},
        },
    }
    code = "values = defs['Closed1']['enum']\n"
    code += "for kind in (case.Closed1, case.Open1):\n"
    code += "    assert [m.value for m in kind] == values and len(kind) == len(values)\n"
    code += "    assert json.loads(acp.encode([acp.decode(json.dumps(v), type=kind) for v in values])) == values\n"
    code += "assert acp.decode('{}', type=case.Holder).held == values\n"
    _run(tmp_path, definitions, code)


def test_tags(tmp_path: Path) -> None:
    """Variants bear the tag in a field of its own, and their names come from the tag."""
    tagged: dict[str, Any] = {}
    for i, key in enumerate(PROPERTIES):
        branches = [
            {"type": "object", "properties": {key: {"type": "string", "const": value}}, "required": [key],
             "allOf": [{"$ref": f"#/$defs/P{i}{value}"}]} for value in ("a", "b")
        ]  # fmt: skip
        tagged |= {f"P{i}{value}": SMALL for value in ("a", "b")} | {f"U{i}": {"oneOf": branches}}
    code = """
for name in [w for w in wanted if w.startswith("U")]:
    key = next(iter(defs[name]["oneOf"][0]["properties"]))
    for tag in "ab":
        value = {key: tag, "text": "t"}
        out = acp.decode(json.dumps(value), type=getattr(case, name))
        assert json.loads(acp.encode(out)) == value, (name, key)
"""
    _run(tmp_path, {k: v for k, v in tagged.items() if k.startswith("P") or "text" not in json.dumps(v).lower()}, code)


def _routed(definitions: dict[str, dict[str, Any]], side: str) -> dict[str, Any]:
    """Add the definitions that route requests of these params to one side, and their answers back."""
    sender = "Client" if side == "agent" else "Agent"
    answers = {
        f"Answer{i}": {**SMALL, "x-side": side, "x-method": d["x-method"]} for i, d in enumerate(definitions.values())
    }

    def message(parts: dict[str, Any]) -> dict[str, Any]:
        refs = [{"anyOf": [{"allOf": [{"$ref": f"#/$defs/{n}"}]}]} for n in parts]
        return {"type": "object", "properties": {}, "anyOf": refs, "x-docs-ignore": True}

    return {
        **definitions,
        **answers,
        f"{sender}Request": message(definitions),
        f"{'Agent' if side == 'agent' else 'Client'}Response": message(answers),
    }


METHODS = """
aio = importlib.import_module("acp_msgspec.case.aio")
from acp_msgspec.aio import memory_pair
import asyncio

async def main(caller, handler):
    class Here(getattr(aio, handler)):
        pass
    calls = {m.name: m for m in case.METHODS.values()}
    for envelope, coroutine in getattr(aio, f"{handler}Connection").side.requests.items():
        async def answer(self, params, method=calls[envelope.method]):
            return method.response(text=params.text)
        setattr(Here, coroutine, answer)
    a, b = memory_pair()
    async with getattr(aio, f"{handler}Connection")(a, Here()), caller(b) as peer:
        for envelope, coroutine in getattr(aio, f"{handler}Connection").side.requests.items():
            params = calls[envelope.method].request(text=coroutine)
            answered = await getattr(peer, coroutine)(params, force=True)
            assert answered.text == coroutine, coroutine
            message = case.request(1, params)
            line = acp.encode(message)
            decode = getattr(case, f"decode_{'client' if handler == 'Agent' else 'agent'}_message")
            assert decode(line) == message

for kind in (k for n in wanted if isinstance(k := getattr(case, n), type) and issubclass(k, msgspec.Struct)):
    acp.Decoder(kind)
if hasattr(case, "decode_client_message") and any("agent" in m.handled_by for m in case.METHODS.values()):
    asyncio.run(main(aio.ClientConnection, "Agent"))
else:
    asyncio.run(main(aio.AgentConnection, "Client"))
"""


@pytest.mark.parametrize("side", ["agent", "client"])
def test_methods(side: str, tmp_path: Path) -> None:
    keys: dict[str, str] = {}
    for key in KEYS:
        if key and names.method_of(key) not in names.CONNECTION_NAMES:
            keys.setdefault(names.member_of(key, None), key)
    unique: dict[str, str] = {}
    for key in keys.values():
        unique.setdefault(names.method_of(key), key)
    definitions = {f"M{i}Request": {**SMALL, "x-side": side, "x-method": key} for i, key in enumerate(unique.values())}
    _run(tmp_path, _routed(definitions, side), METHODS)


@pytest.mark.parametrize("key", sorted(names.CONNECTION_NAMES))
def test_methods_that_would_hide_a_part_of_the_connection(key: str, tmp_path: Path) -> None:
    definitions = {"XRequest": {**SMALL, "x-side": "agent", "x-method": key}}
    assert f"the method {key!r} cannot have the Python name {key}, which is taken" in str(
        _refusal(tmp_path, _routed(definitions, "agent"))
    )


def _claimed(key: str) -> bool:
    try:
        names.Names("schema.json").claim(key, "/$defs")
    except GeneratorError as why:
        known = ("cannot be a class name", "is taken by the package", "Python reads the name")
        return not (why.pointer and any(text in why.problem for text in known))
    return True


def test_definitions(tmp_path: Path) -> None:
    """A definition of any name is refused, or works as params, as a part of others and as a type of its own."""
    fields = {"text"}  # a field that a definition hides gets another name, as the test above shows
    allowed = [key for key in KEYS if key not in PUBLIC and key not in fields and _claimed(key)]
    assert {"Connection", "Files", "Permissions", "Terminals", "Handshake", "Need", "Endpoint", "Client", "Agent",
            "Any", "Literal", "Annotated", "ClassVar", "UNSET", "Uri", "Closed", "Mapping", "AcpStruct",
            "RecursionError", "field", "always", "choose", "derived_capabilities", "params", "result", "handler",
            "Warning",
            } < set(allowed)  # fmt: skip
    routed = _routed({n: {**SMALL, "x-side": "agent", "x-method": f"m/{i}"} for i, n in enumerate(allowed)}, "agent")
    users: dict[str, Any] = {
        f"User{i}": {
            "type": "object",
            "properties": {
                "x-a": {"anyOf": [{"$ref": f"#/$defs/{n}"}, {"type": "null"}]},
                n: {"type": "array", "items": {"$ref": f"#/$defs/{n}"}, "default": []},
                "count": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
                "z": {
                    "type": "array",
                    "items": {"$ref": f"#/$defs/{n}"},
                    "x-deserialize-skip-invalid-items": True,
                    "x-deserialize-default-on-error": True,
                },
            },
        }
        for i, n in enumerate(allowed)
    }
    _run(tmp_path, {**routed, **users}, METHODS)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_refused_with_their_place(name: str, tmp_path: Path) -> None:
    routed = _routed({"XRequest": {**SMALL, "x-side": "agent", "x-method": "x"}}, "agent")
    told = {"TellNotification": {**SMALL, "x-side": "agent", "x-method": "tell"}}
    parts = {"anyOf": [{"allOf": [{"$ref": "#/$defs/TellNotification"}]}], "type": "object", "x-docs-ignore": True}
    routed |= {**told, "ClientNotification": {**parts, "properties": {}}}
    assert str(_refusal(tmp_path, {**routed, name: SMALL})) == (
        f"{tmp_path}/schema.json#/$defs/{name}: the name {name} is taken by the package itself "
        "(hint: see names.py for the reserved names)"
    )


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ({"ﬁ": SMALL, "fi": SMALL}, "#/$defs/ﬁ: Python reads the name 'ﬁ' as 'fi'"),
        ({"A": {"type": "object", "properties": {"ﬁ": {}, "fi": {}}}}, "'ﬁ' and 'fi' both want the Python name fi"),
        ({"A": {"type": "object", "properties": {"é": {}, "e\u0301": {}}}}, "both want the Python name é"),
        ({"A": {"type": "string", "enum": ["ﬁ", "FI"]}}, "'ﬁ' and 'FI' both want the member name FI"),
        ({"A": {"type": "string", "enum": [BOLD, "name"]}}, "both want the member name NAME"),
        ({"A": {"type": "object", "properties": {"a-b": {}, "a_b": {}}}}, "both want the Python name a_b"),
    ],
)
def test_names_that_are_one_to_python(definitions: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in str(_refusal(tmp_path, definitions))


def test_methods_that_are_one_to_python(tmp_path: Path) -> None:
    for first, second in (("ﬁ", "fi"), ("a/b", "a_b"), ("aB", "a_b"), ("x", "X")):
        definitions = {
            n: {**SMALL, "x-side": "agent", "x-method": m} for n, m in (("ARequest", first), ("BRequest", second))
        }
        assert _refusal(tmp_path, _routed(definitions, "agent")).hint, (first, second)


def test_the_lists_are_made_of_what_is_there() -> None:
    assert {"extra", _structs.GUARD} == names.RESERVED_FIELDS
    for path in EMITTED:
        words = {a.id for a in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(a, ast.Name)}
        assert not {w for w in words if w.startswith("_") and w[1:] in HELPERS}, "nothing of ours is spelt otherwise"
    for name in ("aio", "state"):
        assert any(path.startswith(f"acp_msgspec/{name}/") for path in runtime_files())


def test_what_cannot_be_imported_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever slips through the rules above: the run stops, and nothing is written."""

    def slots(_key: str, *_: object) -> str:
        return "__slots__"

    monkeypatch.setattr(views, "field_of", slots)
    schema = _write(tmp_path, {"A": {"oneOf": [{"allOf": [{"$ref": "#/$defs/B"}], "required": ["t"], "type": "object",
                               "properties": {"t": {"const": "b", "type": "string"}}}]}, "B": SMALL})  # fmt: skip
    with pytest.raises(GeneratorError, match="the emitted modules cannot be imported: "):
        cli.generate(schema=schema, label="case", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = = 1", "m.py would not compile: invalid syntax"),
        ("x = '\0'", "m.py would not compile: source code string cannot contain null bytes"),
        ("def f():\n    pass\n    return\nreturn 1", "m.py would not compile: 'return' outside function"),
        ("x: int = 1\nclass x: pass", "m.py would define x twice"),
        ("class A:\n    x: int\n    async def x(self): pass", "m.py would define A.x twice"),
        ("from a import b as c, d as c", "m.py would define c twice"),
        ("@overload\ndef f(): ...\n@overload\ndef f(): ...\ndef f(): ...", None),
    ],
)
def test_the_last_look_at_a_module(text: str, message: str | None) -> None:
    if message is None:
        check.check_module("m.py", text, "schema.json")
        return
    with pytest.raises(GeneratorError, match=f"^schema.json: {message}"):
        check.check_module("m.py", text, "schema.json")
