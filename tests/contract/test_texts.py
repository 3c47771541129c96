"""Whatever may be stored is read back byte for byte, on every engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.memory import Case, Memory
from dolmen.store.opening import open_store
from tests.conftest import ENGINES, Engine, NewStore
from tests.contract.given import START, Clock, Desk, by, link, proposal

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
TIME = st.integers(0, 2**62)


@pytest.fixture(scope="module", params=ENGINES)
def shelf(request: pytest.FixtureRequest, new_module_store: NewStore) -> Iterator[Desk]:
    engine: Engine = request.param
    clock = Clock()
    store = open_store(new_module_store(engine), clock)
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    yield Desk(store, clock)
    store.close()


@given(
    texts=st.lists(TEXT, min_size=12, max_size=12),
    tags=st.lists(TEXT, max_size=4, unique=True),
    attrs=st.dictionaries(TEXT, JSON, max_size=4),
    importance=st.floats(0, 1),
    times=st.lists(TIME, min_size=3, max_size=3),
    case=st.booleans(),
)
def test_a_memory_round_trips(
    shelf: Desk,
    texts: list[str],
    tags: list[str],
    attrs: dict[str, object],
    importance: float,
    times: list[int],
    case: bool,
) -> None:
    text, scope, label, title, folder, agent, person, connection, session, source, verified, part = texts
    with shelf.store.read() as tx:
        id = tx.new_id()
    memory = Memory(
        id=id,
        vault="v",
        scope="project:" + scope,
        kind="fact",
        text=text,
        label=label,
        title=title,
        folder=folder,
        tags=tuple(tags),
        importance=importance,
        agent=agent,
        person=person,
        connection=connection,
        session=session,
        source=source,
        verified_by=verified,
        case=Case(part, text, title, source, label) if case else None,
        attrs=attrs,
        created_at=times[0],
        updated_at=times[1],
        expires_at=times[2],
    )
    with shelf.store.write() as tx:
        assert tx.memories.add(memory, id)
        assert tx.memories.get("v", id) == memory
        after = memory.with_(version=2, text=title, attrs={}, tags=())
        tx.memories.update(memory, after, by(START), id)
        assert [revision.memory for revision in tx.memories.revisions("v", id)] == [memory]
        tx.memories.purge("v", [id])


@given(texts=st.lists(TEXT, min_size=4, max_size=4), payload=st.dictionaries(TEXT, JSON, max_size=4))
def test_links_proposals_and_settings_round_trip(shelf: Desk, texts: list[str], payload: dict[str, object]) -> None:
    a, b, c, d = texts
    with shelf.store.write() as tx:
        source = shelf.memory("source", id=tx.new_id())
        tx.memories.add(source, source.id)
        edge = link(source.id, c, rel=b, agent=d)
        tx.links.add("v", edge)
        assert tx.links.around("v", [source.id]) == [edge]
        tx.links.remove("v", source.id, b, c)
        wish = proposal(tx.new_id(), payload=payload, reason=a, because=b, agent=c, decision_note=d)
        tx.proposals.add(wish)
        assert tx.proposals.get("v", wish.id) == wish
        tx.accounts.set("v", a, b)
        assert tx.accounts.setting("v", a) == b
