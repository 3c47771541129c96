"""What the tools say about themselves: few words, and schemas that every client can read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import SERVED
from dolmen.interfaces.mcp import footprint
from dolmen.interfaces.mcp.registry import Face, Tool, faces
from dolmen.interfaces.mcp.registry import face as find_face
from tests.snapshots.write import FIGURES, FOLDER, figures, path_of, tokens, written

FACES = list(faces().values())
TOOLS = [(face, tool) for face in FACES for tool in face.tools]

CORE = {
    "context": ["task", "project", "budget_tokens"],
    "recall": [
        *("query", "project", "kinds", "tags", "since", "until", "as_of", "mode", "include", "limit"),
        *("budget_tokens", "cursor"),
    ],
    "read": ["ref", "section", "view"],
    "browse": ["path", "project", "depth", "changed_since", "queued"],
    "remember": ["memories", "dry_run"],
    "edit": ["ref", "op", "content", "fields", "key", "value", "reason", "expected_sha"],
    "link": ["from", "rel_type", "to", "weight"],
    "verify": ["refs", "state", "note"],
    "forget": ["ref", "query", "mode", "reason", "dry_run"],
    "handoff": ["summary", "next_steps", "project", "ttl_seconds"],
    "resume": ["project"],
    "reflect": [
        *("summary", "decisions", "errors_resolved", "procedures", "open_questions", "narrative", "project"),
        "outcome",
    ],
    "feedback": ["event", "refs", "relevant", "sufficient", "reason"],
}
"""The names that clients and prompts rely on; others may be added."""

each_tool = pytest.mark.parametrize(("face", "tool"), TOOLS, ids=[f"{f.toolset}-{t.name}" for f, t in TOOLS])
each_face = pytest.mark.parametrize("face", FACES, ids=[face.toolset for face in FACES])


def test_no_toolset_is_offered_that_is_not_served() -> None:
    """Settings, keys and the command line take their choices from the constant."""
    assert tuple(faces()) == SERVED


def test_the_core_toolset_has_its_thirteen_tools_in_order() -> None:
    assert [tool.name for tool in faces()["core"].tools] == list(CORE)


@pytest.mark.parametrize("name", CORE)
def test_the_core_tools_take_the_arguments_that_clients_know(name: str) -> None:
    properties = faces()["core"].by_name[name].schema["properties"]
    assert [argument for argument in CORE[name] if argument not in properties] == []


def test_a_memory_takes_the_fields_that_clients_know() -> None:
    item = faces()["core"].by_name["remember"].schema["properties"]["memories"]["items"]
    assert list(item["properties"]) == [
        *("content", "kind", "project", "title", "folder", "tags", "importance", "links", "supersedes"),
        *("ttl_seconds", "case", "source", "key", "note"),
    ]


@each_tool
def test_every_schema_is_one_flat_object_without_unions_or_references(face: Face, tool: Tool) -> None:
    """B094: a union at the top of one schema makes some clients drop every tool."""
    schema = tool.schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert set(schema) <= {"type", "properties", "required", "additionalProperties"}
    for keyword, value in walk(schema):
        assert keyword not in ("$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "examples", "default")
        assert keyword != "title" or isinstance(value, dict), "a title annotation, not an argument called title"
    Draft202012Validator.check_schema(schema)


@each_tool
def test_a_tool_sends_its_name_description_schema_and_hints_and_nothing_else(face: Face, tool: Tool) -> None:
    assert list(tool.wire()) == ["name", "description", "inputSchema", "annotations"]


@each_tool
def test_annotations_say_whether_a_tool_writes(face: Face, tool: Tool) -> None:
    hints = tool.annotations.wire()
    assert hints["openWorldHint"] is False
    assert hints.get("readOnlyHint", False) == (tool.need == "read" and tool.name != "feedback")
    if tool.name in ("forget", "edit"):
        assert hints.get("destructiveHint", True), "the protocol's default says that it may destroy"
    elif tool.need == "write":
        assert hints["destructiveHint"] is False


def walk(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for keyword, value in schema.items():
            yield keyword, value
            yield from walk(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from walk(value)


@each_tool
def test_the_stored_snapshot_is_what_is_sent(face: Face, tool: Tool) -> None:
    path = path_of(face, tool.name)
    assert path.read_text(encoding="utf-8") == written(tool.wire()), "python -m tests.snapshots.write"


def test_there_are_no_snapshots_of_tools_that_are_gone() -> None:
    assert sorted(FOLDER.rglob("*.json")) == sorted(path_of(face, tool.name) for face, tool in TOOLS)


def test_the_stored_footprint_is_what_is_counted() -> None:
    """B172: the cost of connecting is a published figure."""
    assert FIGURES.read_text(encoding="utf-8") == written(figures()), "python -m tests.snapshots.write"
    assert footprint.stored() == figures()


@pytest.mark.parametrize("toolset", footprint.LIMITS)
def test_the_tools_stay_within_their_budget(toolset: str) -> None:
    """B172."""
    assert figures()[toolset]["list"] <= footprint.LIMITS[toolset]


@each_face
def test_the_instructions_stay_within_their_budget(face: Face) -> None:
    assert 0 < tokens(face.instructions) < footprint.INSTRUCTIONS_LIMIT


def test_the_descriptions_tell_the_agent_when_to_recall_and_what_to_save() -> None:
    core = faces()["core"].by_name
    assert "before answering" in core["recall"].description
    assert "need re-explaining" in core["remember"].description


def test_a_toolset_that_is_not_served_is_refused_with_those_that_are() -> None:
    with pytest.raises(DolmenError) as caught:
        find_face("nonsense")
    assert caught.value.code == "not-found"
    assert "core" in caught.value.fix
