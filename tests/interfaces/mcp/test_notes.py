"""Notes through the core tools, through a real server."""

from __future__ import annotations

from typing import Any

from tests.interfaces.conftest import Served

NOTE = (
    "We chose session cookies.\n\n## Rules\n\n- [convention] Keys rotate monthly #ops\n- depends_on [[Session store]]\n"
)


def refused(served: Served, tool: str, **args: Any) -> dict[str, Any]:
    """The error that a call answers."""
    return dict(served.call(tool, **args)["error"])


def note(served: Served, content: str = NOTE, **more: Any) -> dict[str, Any]:
    item = {"content": content, "note": True, "title": "Auth decision", "folder": "backend", "kind": "decision"}
    [made] = served.call("remember", memories=[item | more])["results"]
    return dict(made)


def test_a_note_is_remembered_found_and_read_by_its_address(served: Served) -> None:
    """C-96, C-233, C-236"""
    made = note(served)
    assert (made["outcome"], made["ref"], made["version"]) == ("stored", "dolmen://backend/auth-decision", 1)
    [claim] = [c for c in served.call("recall", query="keys rotate monthly")["claims"] if "monthly" in c["text"]]
    assert claim["title"] == "Auth decision › Rules"
    whole = served.call("read", ref="backend/auth-decision")
    assert whole["text"] == "---\ntitle: Auth decision\ntype: decision\n---\n" + NOTE
    assert [block["kind"] for block in whole["blocks"]] == ["decision", "heading", "convention", "relation"]
    assert claim["address"] == f"{made['ref']}#{whole['blocks'][2]['id']}"
    block = served.call("read", ref=claim["address"])
    assert (block["text"], block["ref"]) == ("- [convention] Keys rotate monthly #ops", claim["address"])
    assert served.call("read", ref=claim["ref"])["address"] == claim["address"]
    assert served.call("read", ref="backend/auth-decision", section="rules")["text"].startswith("## Rules\n")


def test_a_note_is_edited_and_restored_and_its_history_told(served: Served) -> None:
    """C-100"""
    made = note(served)
    block = served.call("read", ref=made["ref"])["blocks"][2]["id"]
    changed = served.call("edit", ref=f"{made['ref']}#{block}", op="replace_block", content="Keys rotate weekly")
    assert len(changed["changed"]) == 1
    added = served.call("edit", ref=made["ref"], op="append", content="- [note] More")
    served.call("edit", ref=made["ref"], op="set_property", key="owner", value="ada")
    stale = refused(served, "edit", ref=made["ref"], op="append", content="x", expected_sha=made["sha"])
    assert stale["code"] == "conflict"
    assert stale["sha"] != made["sha"]
    assert refused(served, "edit", ref=made["ref"], op="append", content="x", version=1)["code"] == "invalid-argument"
    served.call("edit", ref=made["ref"], op="restore", version=added["version"])
    assert "owner" not in served.call("read", ref=made["ref"])["text"]
    history = served.call("read", ref=made["ref"], view="history")["history"]
    assert [entry["op"] for entry in history] == ["create", "replace_block", "append", "set_property", "restore"]


def test_links_marks_and_forgetting_reach_notes(served: Served) -> None:
    """C-144, C-245"""
    made = note(served)
    store = note(served, "Redis.", title="Session store")
    edge = served.call("link", **{"from": made["ref"], "rel_type": "part_of", "to": store["ref"]})
    assert (edge["outcome"], edge["to"], edge["resolved"]) == ("stored", store["ref"], True)
    links = served.call("read", ref=store["ref"], view="links")["links"]
    assert [(each["rel_type"], each["resolved"]) for each in links] == [("depends_on", True), ("part_of", True)]
    assert len(served.call("verify", refs=[made["ref"]], state="stale")["marked"]) == 4
    assert served.call("forget", ref=store["ref"], reason="gone")["outcome"] == "deleted"
    assert refused(served, "read", ref=store["ref"])["code"] == "gone"
    assert refused(served, "edit", ref="nobody/here", op="append", content="x")["code"] == "not-found"


def test_notes_are_browsed_beside_memories_and_their_blocks_are_not(served: Served) -> None:
    """C-237"""
    note(served)
    served.call("remember", memories=[{"content": "A plain fact.", "folder": "backend"}])
    entries = served.call("browse")["entries"]
    assert [(e["type"], e["name"]) for e in entries] == [
        ("scope", "user"), ("folder", "backend"), ("note", "Auth decision"), ("memory", "A plain fact."),
    ]  # fmt: skip
    assert entries[1]["count"] == 2
    first = served.call("browse", path="backend", limit=1)
    rest = served.call("browse", path="backend", limit=1, cursor=first["cursor"])
    assert [page["entries"][-1]["type"] for page in (first, rest)] == ["note", "memory"]
    assert "cursor" not in rest


def test_a_note_says_which_field_it_does_not_take_and_leaves_other_items_alone(served: Served) -> None:
    items = [{"content": "x", "note": True, "importance": 1}, {"content": "A plain fact."}]
    failed, stored = served.call("remember", memories=items)["results"]
    assert failed["error"]["code"] == "invalid-argument"
    assert "importance" in failed["error"]["message"]
    assert stored["outcome"] == "stored"


def test_a_taken_title_is_told_with_the_call_that_adds_to_the_other_note(served: Served) -> None:
    """C-99"""
    note(served)
    again = note(served, "Another.")
    assert again["ref"] == "dolmen://backend/auth-decision-2"
    assert "append" in again["address_in_use"]["suggestion"]
