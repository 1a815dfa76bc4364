"""Nothing goes in silence: a change that the schema alone does not explain is asked for, and stops `generate`."""

import copy
import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator.bump import render, write_plan
from generator.bump.plan import Group
from generator.errors import GeneratorError
from generator.jsonutil import is_array, is_object
from generator.overrides import FILE
from generator.pipeline import generate_pinned
from tests.generator.bumping import bump, first_schema, make_project, write_source
from tests.support import made_once, meta_of

pytestmark = pytest.mark.slow

Definitions = dict[str, Any]
NULLABLE = {"type": ["string", "null"]}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with the stable schema of version 1 once."""

    def make(folder: Path) -> None:
        make_project(folder / "project", write_source(folder / "source", first_schema()))

    return made_once(tmp_path_factory, "first_v1", make) / "project"


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Path:
    """Copy the project."""
    return Path(shutil.copytree(first, tmp_path / "project"))


def _field(defs: Definitions) -> None:
    """Add a nullable property to a definition with patch facts."""
    defs["SessionInfoUpdate"]["properties"]["subtitle"] = NULLABLE


def _method(defs: Definitions, name: str = "session/audit_all") -> None:
    """Add a method and a capability of which its name reminds."""
    for old, new in (
        ("ListSessionsRequest", "AuditSessionsRequest"),
        ("ListSessionsResponse", "AuditSessionsResponse"),
    ):
        defs[new] = copy.deepcopy(defs[old]) | {"x-method": name}
        for routing in ("ClientRequest", "AgentResponse"):
            for branches in _branches(defs[routing]):
                if any(f'/{old}"' in json.dumps(branch) for branch in branches):
                    branches.append({"title": new, "allOf": [{"$ref": f"#/$defs/{new}"}]})
    defs["SessionCapabilities"]["properties"]["audit"] = defs["SessionCapabilities"]["properties"]["list"]


def _branches(node: Any) -> list[list[Any]]:
    """List the innermost lists of alternatives of whole messages."""
    found: list[list[Any]] = []
    for value in node.values() if is_object(node) else node if is_array(node) else ():
        found += _branches(value)
    inner = node.get("anyOf") if is_object(node) else None
    if is_array(inner) and any("allOf" in branch for branch in inner):
        found.append(inner)
    return found


def _role(defs: Definitions) -> None:
    """Give a property that a ready handler writes another name."""
    read = defs["ReadTextFileResponse"]
    read["properties"]["text"] = read["properties"].pop("content")
    read["required"] = ["text"]


def _outcome(defs: Definitions) -> None:
    """Give an outcome another tag."""
    text = json.dumps(defs["RequestPermissionOutcome"]).replace('"selected"', '"chosen"')
    defs["RequestPermissionOutcome"] = json.loads(text)


def _capability(defs: Definitions) -> None:
    """Add a capability that no method is named like."""
    defs["SessionCapabilities"]["properties"]["telepathy"] = defs["SessionCapabilities"]["properties"]["list"]


def _sender(defs: Definitions) -> None:
    """Add a sender."""
    defs["EditorRequest"] = copy.deepcopy(defs["AgentRequest"])


@pytest.mark.parametrize(
    ("change", "group", "what", "hint", "stops"),
    [
        (
            _field,
            Group.STATES,
            "absent and null differ for subtitle of SessionInfoUpdate",
            '["subtitle"] to [v1.pa',
            True,
        ),
        (
            _method,
            Group.CAPABILITIES,
            "which capability the method 'session/audit_all' needs",
            'perhaps "session/audit_all" = "agentCapabilities.sessionCapabilities.audit"; add it to [v1.capabilities]',
            True,
        ),
        (
            _role,
            Group.ROLES,
            "the role files of v1 was there before and is not found now",
            '"role files" in `gone`',
            True,
        ),
        (
            _outcome,
            Group.ROLES,
            "the role permissions of v1 was there before",
            '"role permissions" in `gone`',
            True,
        ),
        (
            _capability,
            Group.CAPABILITIES,
            "the agent can advertise agentCapabilities.sessionCapabilities.telepathy, which is new",
            "say what needs it in [v1.capabilities]",
            False,
        ),
        (_sender, Group.READING, "EditorRequest lists messages of a sender that is not known", "the known ones", True),
    ],
    ids=["field", "method", "role", "outcome", "capability", "sender"],
)
def test_a_change_is_asked_for(
    change: Callable[[Definitions], None],
    group: Group,
    what: str,
    hint: str,
    stops: bool,
    project: Path,
    tmp_path: Path,
) -> None:
    raw = first_schema()
    change(raw["$defs"])
    found = bump(project, write_source(tmp_path / "source", raw))
    asked = [d for d in found.decisions if d.group is group and what in d.what]
    assert len(asked) == 1, [d.what for d in found.decisions]
    assert hint in asked[0].hint
    assert asked[0].place.startswith(("schema/v1/schema.json", "generated/api.txt"))
    write_plan(found, project)
    if stops:
        with pytest.raises(GeneratorError) as caught:
            generate_pinned(lambda _: None, project, project / "generated")
        assert what in str(caught.value)
    else:
        generate_pinned(lambda _: None, project, project / "generated")


def test_a_need_that_names_settle_is_printed(project: Path, tmp_path: Path) -> None:
    raw = first_schema()
    _method(raw["$defs"], "session/audit")
    raw["$defs"]["ListSessionsRequest"]["properties"]["audited"] = NULLABLE
    found = bump(project, write_source(tmp_path / "source", raw))
    assert not found.decisions
    line = (
        "added: [v1.capabilities] session/audit, session/list#audited -> agentCapabilities.sessionCapabilities.audit "
        "(both are new, and named alike)"
    )
    assert line in render(found, applied=True)
    write_plan(found, project)
    generate_pinned(lambda _: None, project, project / "generated")


def test_a_need_that_is_lost_is_asked_for(project: Path, tmp_path: Path) -> None:
    raw = first_schema()
    load = raw["$defs"]["LoadSessionRequest"]["properties"]
    load["roots"] = load.pop("additionalDirectories")
    known = raw["$defs"]["PromptCapabilities"]["properties"]
    known["sound"] = known.pop("audio")
    raw = json.loads(json.dumps(raw).replace('"audio": false, ', ""))
    found = bump(project, write_source(tmp_path / "source", raw))
    pruned = "pruned: [v1.capabilities] session/load#additionalDirectories, session/prompt#prompt=audio (it matches"
    assert pruned in render(found, applied=True)
    asked, lost = found.decisions
    assert "the name v1.file_block would vanish" in lost.what  # it chooses by the capability that was renamed
    assert "can advertise agentCapabilities.promptCapabilities.sound, which is new" in asked.what
    write_plan(found, project)
    _insert(project, "[v1]\n", '[v1]\ngone = ["file_block"]\n')
    generate_pinned(lambda _: None, project, project / "generated")


def test_a_capability_that_nothing_needs_any_more(project: Path, tmp_path: Path) -> None:
    raw = first_schema()
    for name in ("LoadSessionRequest", "NewSessionRequest", "ResumeSessionRequest"):
        properties = raw["$defs"][name]["properties"]
        properties["roots"] = properties.pop("additionalDirectories")
    found = bump(project, write_source(tmp_path / "source", raw))
    (asked,) = [d.what for d in found.decisions if d.group is Group.CAPABILITIES]
    assert asked == (
        "the agent can advertise agentCapabilities.sessionCapabilities.additionalDirectories, "
        "and nothing is known to need it any more"
    )


def test_what_a_service_lacks_is_said(project: Path, tmp_path: Path) -> None:
    raw = first_schema()
    _role(raw["$defs"])
    found = bump(project, write_source(tmp_path / "source", raw))
    (asked,) = [d for d in found.decisions if "role files" in d.what]
    assert asked.what.endswith("ReadTextFileResponse lacks content")
    # A person may let it go: then nothing stops.
    write_plan(found, project)
    _insert(project, "[v1]\n", '[v1]\ngone = ["role files"]\n')
    generate_pinned(lambda _: None, project, project / "generated")


def _insert(project: Path, old: str, new: str) -> None:
    text = (project / FILE).read_text(encoding="utf-8")
    assert old in text
    (project / FILE).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_names_of_coroutines_and_methods(project: Path, tmp_path: Path) -> None:
    raw = first_schema()
    meta = meta_of(raw)
    meta["agentMethods"]["sessions"] = meta["agentMethods"].pop("session_list")
    found = bump(project, write_source(tmp_path / "source", raw, meta))
    names = {d.what.partition(" would become ")[0] for d in found.decisions if d.group is Group.NAMES}
    assert names == {
        "the name v1.AgentMethod.SESSION_LIST",
        "the name v1.aio.Agent.session_list",
        "the name v1.aio.ClientConnection.session_list",
    }
    assert all("in `gone` of [v1]" in d.hint for d in found.decisions if d.group is Group.NAMES)


def test_a_rename_takes_everything_along(project: Path, tmp_path: Path) -> None:
    text = json.dumps(first_schema()).replace("SessionInfoUpdate", "SessionDetails")
    found = bump(project, write_source(tmp_path / "source", json.loads(text)))
    write_plan(found, project)
    overrides = tomllib.loads((project / FILE).read_text(encoding="utf-8"))["v1"]
    assert overrides["patch"] == {"SessionDetails": ["title", "updatedAt"]}
    assert overrides["not_patch"] == {"SessionDetails": ["_meta"]}
    assert overrides["renamed"]["SessionInfoUpdate"] == "SessionDetails"
    docs = tomllib.loads((project / "schema/docs/v1.toml").read_text(encoding="utf-8"))
    assert docs["SessionDetails"]["doc"] == "What SessionInfoUpdate.doc is."
    assert "SessionInfoUpdate" not in docs
    assert not found.decisions
    assert not found.texts
    made = generate_pinned(lambda _: None, project, project / "generated")
    assert made.summaries[0].undocumented == ()


def test_no_unknown_keyword_hides_the_next(project: Path, tmp_path: Path) -> None:
    raw = first_schema()
    raw["$defs"]["Cost"]["x-deserialize-new"] = True
    raw["$defs"]["Diff"]["properties"]["path"]["x-deserialize-new"] = True
    raw["$defs"]["Terminal"]["type"] = "tuple"
    raw["$defs"]["SessionInfoUpdate"]["properties"]["subtitle"] = NULLABLE
    found = bump(project, write_source(tmp_path / "source", raw))
    places = {d.place for d in found.decisions if d.group is Group.READING}
    assert {f"schema/v1/schema.json#/$defs/{p}" for p in ("Cost", "Diff/properties/path", "Terminal/type")} <= places
    assert any(d.group is Group.STATES for d in found.decisions), "and everything else is asked, too"
    assert any(c.name == "SessionInfoUpdate.subtitle" for c in found.comparison.changes), "and compared"
    # What could not be read may have needed its entries and texts.
    assert not [e for e in found.edits if e.old is not None and not e.new]


def test_a_name_can_live_on_in_the_stable_module_alone(project: Path) -> None:
    _insert(project, "[v1.default]\n", '[v1.renamed]\nOld = { name = "Cost", unstable = false }\n\n[v1.default]\n')
    made = generate_pinned(lambda _: None, project, project / "generated")
    assert "v1.Old\tformerly Cost\n" in made.files["api.txt"]
