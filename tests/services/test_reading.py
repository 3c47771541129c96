from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import DAY
from dolmen.services.edit import edit
from dolmen.services.feedback import feedback
from dolmen.services.forget import forget
from dolmen.services.listing import full_ref
from dolmen.services.reading import browse, read
from dolmen.services.remember import remember
from dolmen.services.requests import Browse, Edit, FeedbackRequest, Forget, NewMemory
from tests.services.conftest import House


@pytest.mark.parametrize("batches", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_large_vault_is_listed_by_names_page_by_page(house: House, batches: int) -> None:
    """B174: 800 memories, asked for an overview; titles only, never the texts."""
    for batch in range(batches):
        items = [NewMemory(f"Observation {batch}-{n}: " + "word " * 60 + "SECRET-TAIL", title="") for n in range(200)]
        remember(house.rt, house.agent, items)
    seen: set[str] = set()
    cursor = None
    for _ in range(20):
        listing = browse(house.rt, house.agent, Browse(cursor=cursor))
        assert sum(e.type == "memory" for e in listing.entries) <= 50
        assert all(len(e.name) <= 81 and "SECRET-TAIL" not in e.name for e in listing.entries)
        seen |= {e.ref for e in listing.entries if e.type == "memory"}
        cursor = listing.cursor
        if cursor is None:
            break
    assert len(seen) == 200 * batches


def test_browse_lists_scopes_folders_and_what_is_in_them(house: House) -> None:
    """C-237."""
    house.stored("A.", folder="guides/deploy", project="app")
    house.stored("B.", folder="guides/test", project="app")
    c = house.stored("C.", folder="notes", project="app", title="The third")
    house.stored("D.", project="web")
    top = browse(house.rt, house.agent, Browse(project="app"))
    named = [(e.type, e.name, e.count) for e in top.entries if e.type != "memory"]
    assert named == [
        ("scope", "project:app", 3),
        ("scope", "project:web", 1),
        ("folder", "guides", 2),
        ("folder", "notes", 1),
    ]
    inside = browse(house.rt, house.agent, Browse("notes", "app"))
    assert [(e.name, e.ref) for e in inside.entries] == [("The third", c)]
    below = browse(house.rt, house.agent, Browse("guides", "app"))
    assert [e.name for e in below.entries if e.type == "folder"] == ["guides/deploy", "guides/test"]


def test_browse_tells_what_changed_since_a_time(house: House) -> None:
    old = house.stored("Old.")
    house.stored("Older still.")
    house.clock.advance(DAY)
    since = house.clock.now
    edit(house.rt, house.agent, Edit(old, "amend", "Old, but changed."))
    assert [e.ref for e in browse(house.rt, house.agent, Browse(changed_since=since)).entries] == [old]


def test_one_section_of_a_long_memory_can_be_read(house: House) -> None:
    """C-235."""
    text = (
        "# Guide\nintro\n## Déploy  steps\nmake deploy\n```\n# not a heading\n```\n### detail\nx\n## Undo\nmake undo\n"
    )
    ref = house.stored(text)
    part = read(house.rt, house.agent, ref, section="## déploy steps").text
    assert part == "## Déploy  steps\nmake deploy\n```\n# not a heading\n```\n### detail\nx\n"
    with pytest.raises(DolmenError) as refused:
        read(house.rt, house.agent, ref, section="nothing")
    assert refused.value.code == "not-found"


def test_a_forgotten_memory_is_read_by_people_only(house: House) -> None:
    ref = house.stored("Gone soon.")
    forget(house.rt, house.agent, Forget(ref=ref))
    with pytest.raises(DolmenError) as refused:
        read(house.rt, house.agent, ref)
    assert refused.value.code == "gone"
    assert read(house.rt, house.owner, ref).text == "Gone soon."


def test_feedback_names_an_answer_that_was_given(house: House) -> None:
    """C-256: also before the answer's record has reached the disk."""
    ref = house.stored("Herons eat fish.")
    event = house.recall("what do herons eat").event
    feedback(house.rt, house.agent, FeedbackRequest(event, (ref,), relevant=True, sufficient=False, reason="too short"))
    with house.rt.store.read() as tx:
        [entry] = list(tx.journal.feedbacks("main"))
    assert (entry.event, entry.refs, entry.relevant, entry.sufficient) == (event, (ref,), True, False)
    for bad in (FeedbackRequest(event), FeedbackRequest(relevant=True)):
        with pytest.raises(DolmenError) as refused:
            feedback(house.rt, house.agent, bad)
        assert refused.value.code == "invalid-argument"
    stranger = house.actor(vault="other", person="stranger")
    with pytest.raises(DolmenError) as unknown:
        feedback(house.rt, stranger, FeedbackRequest(event, relevant=True))
    assert unknown.value.code == "not-found"


def test_a_part_of_a_ref_stands_for_the_memory_that_alone_has_it(house: House) -> None:
    """Refs begin alike, so lists print their ends; from four characters on either end will do."""
    first, second = house.stored("Deploys happen on Tuesday"), house.stored("The cache lives in Redis")
    for part in (first, first[-8:], first[-4:], f"…{first[-8:]}", f"dolmen://memory/{first}"):
        assert full_ref(house.rt, house.owner, part) == first
    with pytest.raises(DolmenError) as refused:
        full_ref(house.rt, house.owner, first[:4])
    assert refused.value.code == "invalid-argument"
    assert refused.value.data["candidates"] == sorted([first, second])
    assert f"{second} (The cache lives in Redis)" in refused.value.message
    for part, code in (("abc", "invalid-argument"), ("wxyz", "invalid-argument"), ("ffffffff", "not-found")):
        with pytest.raises(DolmenError) as refused:
            full_ref(house.rt, house.owner, part)
        assert refused.value.code == code
