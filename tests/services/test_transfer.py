"""Everything that was written, taken from one store to another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import STATUSES, Case, Link, Memory
from dolmen.domain.values import DAY, HOUR
from dolmen.services import accounts, review, scopes
from dolmen.services.edit import edit, link, verify
from dolmen.services.feedback import feedback
from dolmen.services.forget import forget
from dolmen.services.requests import Edit, FeedbackRequest, Forget, Handoff, NewLink
from dolmen.services.scoping import visible
from dolmen.services.sessions import handoff
from dolmen.services.transfer import EXCLUDED, export, import_
from tests.conftest import Engine, NewStore
from tests.services.conftest import House, close_house, open_house


def full(house: House) -> dict[str, str]:
    """One of everything that a person or an agent can write."""
    suggesting = house.actor(mode="suggest", connection="key-2", agent="codex")
    refs = {
        "plain": house.stored(
            "배포는 화요일에 한다 \ufffd 🚚", title="배포", folder="guides/deploy", tags=("release", "a,b")
        ),
        "temporary": house.stored("The staging server is down", ttl_seconds=3600, importance=0.25, pinned=True),
        "case": house.stored(
            "Label printing failed", case=Case("c-1", "print", "fixed", "resolved", "done"), kind="error"
        ),
        "old": house.stored("The cache lives in Redis", project="acme/shop", source="docs/cache.md"),
        "changed": house.stored("Money is a float"),
        "gone": house.stored("The printer is upstairs"),
        "purged": house.stored("This is destroyed"),
    }
    house.clock.advance(DAY)
    edit(house.rt, house.owner, Edit(refs["changed"], "amend", content="Money is an integer", reason="review"))
    edit(house.rt, house.owner, Edit(refs["changed"], "amend", fields={"tags": ["money"]}))
    edit(house.rt, house.owner, Edit(refs["old"], "supersede", content="The cache lives in Valkey"))
    forget(house.rt, house.owner, Forget(ref=refs["gone"], reason="moved"))
    forget(house.rt, house.owner, Forget(ref=refs["purged"], mode="purge"))
    link(house.rt, house.owner, refs["plain"], "depends_on", refs["changed"], 0.5)
    house.stored("Linked at birth", links=(NewLink("part_of", "not-there-yet"),))
    verify(house.rt, house.owner, [refs["plain"]], "verified")
    wish = house.remember("Prefer tabs", suggesting, kind="preference")
    house.remember("Use spaces", suggesting, kind="convention")
    assert wish.proposal
    review.reject(house.rt, house.owner, wish.proposal, "no")
    edit(house.rt, suggesting, Edit(refs["plain"], "amend", content="배포는 목요일에 한다"))
    handoff(house.rt, house.agent, Handoff("The queue is half done", ("write the sender",)))
    event = house.recall("deploys").event
    feedback(house.rt, house.agent, FeedbackRequest(event=event, refs=(refs["plain"],), relevant=False, reason="old"))
    accounts.create_key(house.rt, house.owner, agent="x")
    scopes.alias(house.rt, house.owner, "acme/store", "acme/shop", force=True)
    with house.rt.store.write() as tx:
        tx.accounts.set("main", "review.policy", "people")
        tx.accounts.set("main", "upkeep.tidied", "1")
    return refs


def state(house: House) -> dict[str, Any]:
    """Everything that a person or an agent wrote, straight from the store."""
    with house.rt.store.read() as tx:
        memories = {each.id: each for each in tx.memories.stream("main")}
        everything = visible(tx, house.owner, "*", statuses=STATUSES, include_expired=True)
        assert sum(tx.memories.count(everything).values()) == len(memories)
        return {
            "memories": memories,
            "revisions": {id: tx.memories.revisions("main", id) for id in memories},
            "links": sorted(tx.links.stream("main"), key=repr),
            "proposals": {each.id: each for each in tx.proposals.stream("main")},
            "feedback": sorted(tx.journal.feedbacks("main"), key=repr),
            "aliases": tx.scopes.aliases("main"),
            "settings": {k: v for k, v in tx.accounts.settings("main").items() if not k.startswith("upkeep.")},
        }


@pytest.fixture
def other(engine: Engine, new_store: NewStore, house: House) -> Iterator[House]:
    """An empty house at a later time."""
    built = open_house(new_store(engine))
    built.clock.now = house.clock.now + 30 * DAY
    yield built
    close_house(built)


def test_everything_that_was_written_comes_over_unchanged(house: House, other: House) -> None:
    """B145, B147: every authored table, every time field, every id."""
    full(house)
    before = state(house)
    report = import_(other.rt, other.owner, export(house.rt, house.owner))
    assert (report.refusals, report.complete) == (0, True)
    assert state(other) == before
    counts = report.imported
    assert counts["memory"] == len(before["memories"])
    assert counts["link"] == len(before["links"]) == 2
    assert counts["proposal"] == len(before["proposals"]) == 3
    assert (counts["feedback"], counts["alias"], counts["setting"]) == (1, 1, 1)
    assert sum(len(each) for each in before["revisions"].values()) >= 5


def test_temporary_memories_stay_temporary_and_old_ones_old(house: House, other: House) -> None:
    """B147."""
    ref = house.stored("The staging server is down", ttl_seconds=3600)
    import_(other.rt, other.owner, export(house.rt, house.owner))
    with house.rt.store.read() as here, other.rt.store.read() as there:
        assert here.memories.get("main", ref) == there.memories.get("main", ref)
    assert other.refs("staging server") == []


def test_what_was_imported_is_found_also_as_it_was_in_the_past(house: House, other: House) -> None:
    ref = house.stored("The cache lives in Redis")
    then = house.clock.now
    house.clock.advance(DAY)
    edit(house.rt, house.owner, Edit(ref, "amend", content="The cache lives in Valkey"))
    import_(other.rt, other.owner, export(house.rt, house.owner))
    assert other.refs("Valkey cache") == [ref]
    assert other.refs("Redis") == []
    assert other.refs("Redis", as_of=then) == [ref]


def test_the_first_line_says_what_is_left_out(house: House) -> None:
    """B145: the export names what it excludes."""
    _, secret = accounts.create_key(house.rt, house.owner, agent="x")
    lines = list(export(house.rt, house.owner))
    header = json.loads(lines[0])
    assert (header["format"], header["version"]) == ("dolmen.export", 1)
    assert header["excluded"] == EXCLUDED
    assert {"connections and keys", "idempotency keys", "audit rows", "recall events"} <= set(EXCLUDED)
    assert secret not in "\n".join(lines)


def test_importing_twice_or_going_on_after_a_kill_adds_nothing_twice(house: House, other: House) -> None:
    full(house)
    lines = list(export(house.rt, house.owner))
    first = import_(other.rt, other.owner, lines[: len(lines) // 2])
    assert not first.complete
    second = import_(other.rt, other.owner, lines)
    assert second.complete
    assert second.refusals == 0
    assert state(other) == state(house)
    third = import_(other.rt, other.owner, lines)
    assert third.imported == Counter()
    assert third.present["memory"] == len(state(house)["memories"])
    assert state(other) == state(house)


def test_a_dry_run_knows_what_it_has_rolled_back(house: House, other: House) -> None:
    """A link and a proposal may come many lines after their memory."""
    ref = house.stored("The first of many")
    for n in range(110):
        house.stored(f"Number {n} of many")
    link(house.rt, house.owner, ref, "depends_on", "elsewhere")
    wish = Edit(ref, "amend", content="The very first")
    edit(house.rt, house.actor(mode="suggest", connection="key-2"), wish)
    lines = list(export(house.rt, house.owner))
    told = import_(other.rt, other.owner, lines, dry_run=True)
    assert (told.refusals, told.imported["link"], told.imported["proposal"]) == (0, 1, 1)
    assert told.imported == import_(other.rt, other.owner, lines).imported


def test_a_dry_run_tells_the_same_and_writes_nothing(house: House, other: House) -> None:
    full(house)
    lines = list(export(house.rt, house.owner))
    empty = state(other)
    rehearsal = import_(other.rt, other.owner, lines, dry_run=True)
    assert state(other) == empty
    assert rehearsal.complete
    assert rehearsal.imported == import_(other.rt, other.owner, lines).imported


def test_a_statement_that_is_here_already_keeps_its_id_and_gets_the_links(house: House, other: House) -> None:
    theirs = house.stored("Deploys happen on Tuesday")
    source = house.stored("The pipeline builds images")
    link(house.rt, house.owner, source, "part_of", theirs)
    ours = other.stored("deploys happen on tuesday.")
    report = import_(other.rt, other.owner, export(house.rt, house.owner))
    assert (report.same_words, report.imported["memory"], report.present["memory"]) == (1, 1, 1)
    with other.rt.store.read() as tx:
        assert tx.memories.get("main", theirs) is None
        assert [(each.source, each.target) for each in tx.links.stream("main")] == [(source, ours)]


BAD = (
    ("{not json", "invalid-argument", "no JSON"),
    ("[1, 2]", "invalid-argument", "no JSON object"),
    ('{"type": "dream"}', "invalid-argument", "'dream'"),
    ('{"type": "memory", "id": "x"}', "invalid-argument", "id of the memory"),
    ("no-text", "invalid-argument", "has no 'text'"),
    ("kind", "invalid-argument", "kind of the memory is not one of"),
    ("scope", "invalid-project", "scope"),
    ("field", "invalid-argument", "unknown field 'colour'"),
    ("long", "too-large", "8,001"),
    ("secret", "secret-detected", "GitHub token"),
    ("old-secret", "secret-detected", "GitHub token"),
    ("importance", "invalid-argument", "importance"),
    ("time", "invalid-argument", "created_at"),
    ("order", "invalid-argument", "not in order"),
)


def spoiled(good: dict[str, Any], how: str) -> str:
    line = json.loads(json.dumps(good))
    token = "ghp_" + "a1B2" * 9
    changes: dict[str, Any] = {
        "kind": {"kind": "dream"},
        "scope": {"scope": "planet:earth"},
        "field": {"colour": "red"},
        "long": {"text": "x" * 8001},
        "secret": {"text": f"use {token}"},
        "importance": {"importance": 2},
        "time": {"created_at": "yesterday"},
    }
    if how == "no-text":
        del line["text"]
    elif how == "old-secret":
        line["revisions"][0]["memory"]["text"] = f"use {token}"
    elif how == "order":
        line["revisions"][0]["memory"]["version"] = 7
    elif how in changes:
        line |= changes[how]
    else:
        return how
    return json.dumps(line)


@pytest.mark.parametrize(("how", "code", "said"), BAD, ids=[each[0][:12] for each in BAD])
def test_a_bad_line_is_left_out_by_its_number_and_the_others_come(
    sqlite_url: str, new_store: NewStore, how: str, code: str, said: str
) -> None:
    house, other = open_house(sqlite_url), open_house(new_store("sqlite"))
    ref = house.stored("Money is a float")
    edit(house.rt, house.owner, Edit(ref, "amend", content="Money is an integer"))
    house.stored("Deploys happen on Tuesday")
    lines = list(export(house.rt, house.owner))
    lines[1] = spoiled(json.loads(lines[1]), how)
    report = import_(other.rt, other.owner, lines)
    [refused] = report.refused
    assert (refused.line, refused.code) == (2, code)
    assert said.replace(",", "") in refused.message
    assert "ghp_" not in refused.message
    assert report.imported["memory"] == 1
    assert other.refs("deploys Tuesday")
    close_house(house)
    close_house(other)


@pytest.mark.parametrize(
    "first",
    ["", '{"type":"memory"}', '{"format":"other","version":1}', '{"format":"dolmen.export","version":2}', "\x00\x00"],
)
def test_what_is_no_export_is_refused_whole(sqlite_url: str, first: str) -> None:
    house = open_house(sqlite_url)
    with pytest.raises(DolmenError) as caught:
        import_(house.rt, house.owner, [first, '{"type":"end","counts":{}}'])
    assert caught.value.code == "invalid-argument"
    assert caught.value.fix
    close_house(house)


def test_a_file_that_was_cut_off_is_told(house: House, other: House) -> None:
    full(house)
    lines = list(export(house.rt, house.owner))
    assert not import_(other.rt, other.owner, lines[:-1]).complete
    assert not import_(other.rt, other.owner, [*lines[:2], lines[-1]]).complete


def test_only_the_owner_takes_everything_out_or_in(house: House) -> None:
    for call in (lambda: list(export(house.rt, house.agent)), lambda: import_(house.rt, house.agent, [])):
        with pytest.raises(DolmenError) as caught:
            call()
        assert caught.value.code == "forbidden"


def test_an_export_is_one_vault_and_one_moment(house: House) -> None:
    stranger = replace(house.owner, vault="other", person="stranger")
    house.stored("Deploys happen on Tuesday")
    house.stored("Of another vault", stranger)
    lines = export(house.rt, house.owner)
    first = next(lines)
    late = house.stored("Written while the export runs")
    rest = "\n".join(lines)
    assert "Deploys happen" in rest
    assert "another vault" not in rest
    assert late not in rest
    assert json.loads(first)["memories"] == 1


def test_a_memory_with_every_field_set_survives(house: House, other: House) -> None:
    memory = Memory(
        id="01900000-0000-7000-8000-00000000abcd",
        vault="main",
        scope="project:acme/shop",
        kind="relation",
        text="line one\r\nline two\ttab \u2028 \U0001f980 " + "가" * 500,
        status="superseded",
        trust="external",
        verification="stale",
        label="관계",
        title="제목",
        folder="a/b",
        tags=("x", 'quo"te', "a,b"),
        importance=0.123456789,
        pinned=True,
        agent="codex",
        person="p",
        connection="c",
        session="s",
        source="https://example.org/a?b=c",
        case=Case("1", "2", "3", "4", "5"),
        attrs={"next_steps": ["a"], "deep": {"n": [1, 2.5, None, True]}},
        created_at=1,
        updated_at=HOUR,
        expires_at=2 * HOUR,
        supersedes="01900000-0000-7000-8000-00000000abce",
        superseded_by="elsewhere",
        verified_by="ada",
        version=1,
    )
    with house.rt.store.write() as tx:
        assert tx.memories.restore(memory, [], "key")
        tx.links.add("main", Link(memory.id, "part_of", "somewhere", 0.75, 5, "codex"))
    import_(other.rt, other.owner, export(house.rt, house.owner))
    with other.rt.store.read() as tx:
        assert tx.memories.get("main", memory.id) == memory
        assert list(tx.links.stream("main")) == [Link(memory.id, "part_of", "somewhere", 0.75, 5, "codex")]
