"""Kenfold's archive read in: nothing of it is lost, and everything works here as it did there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Link, Memory
from dolmen.services import review
from dolmen.services.code.views import code_refs
from dolmen.services.context import context
from dolmen.services.requests import ContextRequest
from dolmen.services.sessions import resume
from dolmen.services.transfer import export, import_
from tests.services.conftest import House

HEADER = {"format": "kenfold-archive/1", "exported_at": "2026-09-01T10:00:00Z", "kenfold_version": "0.5.0"}
SCOPE = "project:github.com/org/repo"
COMMIT, LATER = "a" * 40, "b" * 40


def id_of(n: int) -> str:
    return f"01990000-0000-7000-8000-{n:012x}"


def memory(n: int, type: str, content: str, **more: Any) -> dict[str, Any]:
    """A record as `kenfold export` writes it; optional fields are left out there."""
    fields = {
        "id": id_of(n),
        "type": type,
        "scope": SCOPE,
        "content": content,
        "attrs": {"type_source": "agent"},
        "source_agent": "claude-code",
        "trust": "agent",
        "confidence": 0.5,
        "status": "active",
        "created_at": f"2026-08-0{n % 9 + 1}T06:00:00.123456Z",
        "updated_at": f"2026-08-0{n % 9 + 1}T07:00:00+00:00",
    }
    return {"memory": {name: value for name, value in {**fields, **more}.items() if value is not None}}


def ref(n: int, symbol: str, state: str, **more: Any) -> dict[str, Any]:
    fields = {"memory_id": id_of(n), "scope": SCOPE, "path": "web/gate.py", "symbol": symbol, "state": state}
    return {"ref": {**fields, "created_at": "2026-08-01T06:00:00Z", **more}}


MEMORIES = [
    memory(1, "project", "Use npm for installation.", status="superseded"),
    memory(2, "project", "Use pnpm for installation.", supersedes=id_of(1), confidence=0.9),
    memory(3, "semantic", "배포는 화요일에 한다 🚚", scope="user", source_session="s-1", trust="external"),
    memory(4, "preference", "Answer in Korean.", scope="user", trust="user"),
    memory(5, "preference", "Answer briefly.", scope="user", status="proposed"),
    memory(6, "codebase", "`open_gate()` in web/gate.py opens the gate.", evidence_uri="https://example.com/pr/7"),
    memory(
        *(7, "temporary", "The parser is half done."),
        attrs={"kind": "handoff", "next_steps": ["finish", "test"]},
        expires_at="2027-08-08T06:00:00Z",
        source_agent="codex",
    ),
    memory(8, "episodic", "Worked on the parser.", source_session="s-1"),
    memory(
        *(9, "semantic", "The parser has three passes."),
        status="proposed",
        source_agent="kenfold-extractor",
        source_session="s-1",
        attrs={"session_agent": "claude-code", "evidence": "three passes", "extractor_model": "q", "similar_to": []},
        valid_from="2026-01-01T00:00:00Z",
    ),
    memory(
        *(10, "semantic", "Kettles whistle."),
        status="deleted",
        attrs={"forgotten_by": "codex", "forget_reason": "dull"},
    ),
    memory(11, "project", "Use corepack.", scope="repo:github.com/org/repo", supersedes=id_of(2), status="proposed"),
]
EDGES = [
    {
        "edge": {
            "src": id_of(9),
            "dst": id_of(8),
            "relation": "derived_from",
            "weight": 1,
            "source_agent": "kenfold-extractor",
            "created_at": "2026-08-09T06:00:00Z",
        }
    }
]
REFS = [
    ref(6, "open_gate", "missing", anchor_hash="sym:12", anchor_commit=COMMIT, checked_commit=LATER),
    ref(6, "", "changed", anchor_hash="blob:34", anchor_commit=COMMIT, checked_at="2026-08-09T06:00:00Z"),
]
END = {"end": {"memories": len(MEMORIES), "edges": len(EDGES), "refs": len(REFS)}}
ARCHIVE = [HEADER, *MEMORIES, *EDGES, *REFS, END]


def text(records: list[Mapping[str, Any]]) -> list[str]:
    return [json.dumps(record, ensure_ascii=False) + "\n" for record in records]


def stored(house: House) -> dict[str, Memory]:
    with house.rt.store.read() as tx:
        return {memory.id: memory for memory in tx.memories.stream("main")}


@pytest.fixture
def moved(house: House) -> House:
    """A house with everything of the archive in it."""
    report = import_(house.rt, house.owner, text(ARCHIVE))
    assert (report.refused, report.complete) == ([], True)
    assert report.imported == Counter(memory=11, link=1, code_ref=2, proposal=3)
    return house


def test_every_field_of_an_archive_is_kept(moved: House) -> None:
    """B147: what Dolmen has no field for stands among the attributes."""
    memories = stored(moved)
    old, new = memories[id_of(1)], memories[id_of(2)]
    assert (old.status, old.superseded_by, old.kind, old.scope) == ("superseded", new.id, "decision", SCOPE)
    assert (new.supersedes, new.attrs) == (old.id, {"type_source": "agent", "kenfold": {"confidence": 0.9}})
    assert (new.created_at, new.updated_at, new.expires_at) == (1785736800123456, 1785740400000000, None)
    fact = memories[id_of(3)]
    assert (fact.text, fact.scope, fact.session, fact.trust, fact.agent) == (
        *("배포는 화요일에 한다 🚚", "user", "s-1", "external", "claude-code"),
    )
    assert memories[id_of(6)].source == "https://example.com/pr/7"
    extracted = memories[id_of(9)]
    assert extracted.attrs == {
        "session_agent": "claude-code",
        "evidence": "three passes",
        "extractor_model": "q",
        "similar_to": [],
        "kenfold": {"valid_from": "2026-01-01T00:00:00Z"},
    }
    gone = memories[id_of(10)]
    assert (gone.status, gone.attrs["forgotten_by"], gone.attrs["forget_reason"]) == ("deleted", "codex", "dull")
    assert memories[id_of(11)].scope == SCOPE
    assert memories[id_of(11)].attrs["kenfold"] == {"scope": "repo:github.com/org/repo"}
    with moved.rt.store.read() as tx:
        assert list(tx.links.stream("main")) == [
            Link(id_of(9), "derived_from", id_of(8), 1.0, 1786255200000000, "kenfold-extractor")
        ]


def test_what_is_imported_works_as_it_did(moved: House) -> None:
    """C-194, C-203: handoff, preferences, session summaries."""
    brief = context(moved.rt, moved.agent, ContextRequest(project="github.com/org/repo"))
    assert [claim.text for claim in brief.preferences] == ["Answer in Korean."]
    assert [claim.text for claim in brief.recent] == ["Worked on the parser."]
    taken = resume(moved.rt, moved.agent, "github.com/org/repo")
    assert taken is not None
    assert (taken.summary, taken.next_steps, taken.agent) == ("The parser is half done.", ("finish", "test"), "codex")


def test_what_waited_for_the_user_waits_here(moved: House) -> None:
    """C-122, C-136, C-137: also with what it would replace."""
    waiting = {item.ref: item for item in review.pending(moved.rt, moved.owner)}
    assert {ref: item.because for ref, item in waiting.items()} == {
        id_of(5): "kind",
        id_of(9): "import",
        id_of(11): "import",
    }
    review.apply(moved.rt, moved.owner, waiting[id_of(11)].id)
    review.reject(moved.rt, moved.owner, waiting[id_of(5)].id)
    memories = stored(moved)
    assert (memories[id_of(11)].status, memories[id_of(11)].trust) == ("active", "user")
    assert (memories[id_of(2)].status, memories[id_of(2)].superseded_by) == ("superseded", id_of(11))
    assert memories[id_of(5)].status == "deleted"


def test_code_references_come_with_their_anchors(moved: House) -> None:
    """C-225, C-232: a symbol's hash was made otherwise than ours and is never compared with one."""
    with moved.rt.store.read() as tx:
        refs = {ref.symbol: ref for ref in tx.code_refs.of("main", [id_of(6)])[id_of(6)]}
    assert (refs["open_gate"].anchor_hash, refs["open_gate"].checked_commit) == ("kenfold-sym:12", LATER)
    assert (refs[""].anchor_hash, refs[""].checked_at) == ("blob:34", 1786255200000000)
    shown = code_refs(moved.rt, moved.agent, [id_of(6)])[id_of(6)]
    assert [(ref.symbol, ref.state) for ref in shown] == [("open_gate", "missing"), ("", "changed")]
    assert stored(moved)[id_of(6)].attrs["code"] == "gone"


def test_importing_again_changes_nothing(moved: House) -> None:
    before = stored(moved)
    report = import_(moved.rt, moved.owner, text(ARCHIVE))
    assert (report.imported, report.present) == (Counter(), Counter(memory=11, link=1, code_ref=2, proposal=3))
    assert stored(moved) == before


def test_what_was_imported_leaves_and_enters_again_without_loss(moved: House) -> None:
    """B145: also the references to code."""
    lines = list(export(moved.rt, moved.owner))
    assert sum('"type":"code_ref"' in line for line in lines) == 2
    other = moved.actor(vault="other", person="stranger", human=True, mode="admin")
    report = import_(moved.rt, other, lines)
    assert (report.refused, report.complete) == ([], True)
    again = list(export(moved.rt, other))
    assert [line for line in again[1:] if '"setting"' not in line] == [
        line for line in lines[1:] if '"setting"' not in line
    ]


def test_a_dry_run_says_what_would_come_and_writes_nothing(house: House) -> None:
    report = import_(house.rt, house.owner, text(ARCHIVE), dry_run=True)
    assert (report.imported, report.refused) == (Counter(memory=11, link=1, code_ref=2, proposal=3), [])
    assert report.complete
    assert stored(house) == {}


@pytest.mark.parametrize("cut", [-1, -2])
def test_an_archive_that_was_cut_off_is_noticed(house: House, cut: int) -> None:
    assert not import_(house.rt, house.owner, text(ARCHIVE[:cut])).complete


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (memory(1, "opinion", "x"), "invalid-argument"),
        (memory(1, "semantic", "x", colour="red"), "invalid-argument"),
        (memory(1, "semantic", "x", trust="admin"), "invalid-argument"),
        (memory(1, "semantic", "x", status="unknown"), "invalid-argument"),
        (memory(1, "semantic", "x", confidence=1.1), "invalid-argument"),
        (memory(1, "semantic", "x", scope="acme"), "invalid-project"),
        (memory(1, "semantic", "x", scope="project:/tmp/repo"), "invalid-project"),
        (memory(1, "semantic", "x", supersedes="nope"), "invalid-argument"),
        (memory(1, "semantic", "x", created_at="yesterday"), "invalid-argument"),
        (memory(1, "semantic", "x", created_at="2026-08-01T06:00:00"), "invalid-argument"),
        (memory(1, "temporary", "x"), "invalid-argument"),
        (memory(1, "semantic", "x" * 8001), "too-large"),
        (memory(1, "semantic", "token ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"), "secret-detected"),
        (
            {"edge": {"src": id_of(1), "dst": "x", "relation": "r", "created_at": "2026-08-01T06:00:00Z"}},
            "invalid-argument",
        ),
        (ref(1, "f", "lost"), "invalid-argument"),
        ({"thought": {}}, "invalid-argument"),
        ({"memory": {}, "edge": {}}, "invalid-argument"),
    ],
)
def test_a_bad_line_is_named_and_the_others_come(house: House, record: dict[str, Any], code: str) -> None:
    good = memory(2, "semantic", "Herons nest early.")
    report = import_(house.rt, house.owner, text([HEADER, record, good]))
    assert [(one.line, one.code) for one in report.refused] == [(2, code)]
    assert list(stored(house)) == [id_of(2)]


def test_another_version_of_the_archive_is_refused_whole(house: House) -> None:
    with pytest.raises(DolmenError) as refused:
        import_(house.rt, house.owner, text([{**HEADER, "format": "kenfold-archive/2"}]))
    assert refused.value.code == "invalid-argument"
    with house.rt.store.read() as tx:
        assert list(tx.memories.stream("main")) == []


def test_an_agent_that_says_what_waits_for_the_user_does_not_decide_about_it(moved: House) -> None:
    """C-110, C-275: it gets the memory that waits; a person's word is a decision."""
    said = moved.remember("the parser has three passes", project="github.com/org/repo", kind="fact")
    assert (said.outcome, said.ref, said.status) == ("duplicate", id_of(9), "proposed")
    said = moved.remember("use corepack", project="github.com/org/repo", kind="decision", supersedes=(id_of(2),))
    assert (said.ref, said.status, said.superseded) == (id_of(11), "proposed", ())
    assert stored(moved)[id_of(2)].status == "active"
    said = moved.remember("The parser has three passes.", moved.owner, project="github.com/org/repo", kind="fact")
    assert (said.ref, said.status) == (id_of(9), "active")
