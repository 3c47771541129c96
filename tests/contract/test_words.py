"""The text leg of `contract.Index`."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.ranking import damped
from dolmen.domain.text import analyze
from dolmen.store.opening import open_store
from tests.conftest import Engine, NewStore
from tests.contract.given import Clock, Desk, add, passage


def test_passages_with_more_and_rarer_tokens_come_first(desk: Desk) -> None:
    common = [desk.add(f"the heron nests number {n}") for n in range(9)]
    both = desk.add("the heron and the kingfisher")
    rare = desk.add("a kingfisher alone")
    desk.add("nothing of the kind")
    found = desk.found(desk.sight(), "kingfisher heron")
    assert found[:2] == [both.id, rare.id]
    assert set(found[2:]) == {memory.id for memory in common}


def test_a_hit_carries_the_tokens_of_its_passage(desk: Desk) -> None:
    text = "heron heron ParseBlock C:\\dir 한글"
    memory = desk.add(text)
    with desk.store.read() as tx:
        (hit,) = tx.index.match(desk.sight(), ["heron"], 9)
        assert tx.index.spans("v", [hit.passage, 999]) == {hit.passage: (0, len(text))}
        assert tx.index.spans("w", [hit.passage]) == {}
    assert hit.memory == memory.id
    assert hit.tokens.split(" ") == analyze(text)
    assert hit.length == len(analyze(text))


def test_when_few_qualify_all_of_them_come_however_many_others_match(desk: Desk) -> None:
    """B018, B026: the filter is applied before the cut."""
    mine = []
    with desk.store.write() as tx:
        for n in range(700):
            add(tx, desk.memory(f"heron {n}", scope="project:big"))
            add(tx, desk.memory(f"heron other {n}", kind="error", status="deleted"))
        for n in range(7):
            memory = desk.memory(f"heron mine {n}", kind="decision")
            add(tx, memory)
            mine.append(memory.id)
        for n in range(300):
            add(tx, desk.memory(f"heron yours {n}"))
    assert sorted(desk.found(desk.sight(kinds=("decision",)), "heron", 20)) == sorted(mine)
    assert len(desk.found(desk.sight(), "heron", 400)) == 307
    assert len(desk.found(desk.sight(), "heron", 20)) == 20
    assert len(desk.found(desk.sight("user", "project:big"), "heron", 2000)) == 1007


def test_the_likeliest_say_as_much_in_fewer_words(desk: Desk) -> None:
    with desk.store.write() as tx:
        for n in range(1, 41):
            add(tx, desk.memory("heron" + " x" * n))
            add(tx, desk.memory("heron" + " x" * n, status="deleted"))
    with desk.store.read() as tx:
        every = tx.index.match(desk.sight(), ["heron", "stork"], 99)
        kept, average = tx.index.likeliest(desk.sight(), ["heron", "stork"], 99, 10)
        assert {hit.length for hit in kept} == set(range(2, 12))
        assert {hit.passage for hit in kept} <= {hit.passage for hit in every}
        assert kept[0].tokens == "heron x"
        assert average == sum(hit.length for hit in every) / 40 == 21.5
        kept, average = tx.index.likeliest(desk.sight(kinds=("error",)), ["heron"], 99, 10)
        assert (kept, average) == ([], 0)
        kept, _ = tx.index.likeliest(desk.sight(kinds=("fact",)), ["heron"], 99, 10)
        assert len(kept) == 10
        kept, _ = tx.index.likeliest(desk.sight(), ["heron"], 99, 50)
        assert kept == tx.index.match(desk.sight(), ["heron"], 99)


def test_the_likeliest_by_several_tokens_are_the_best_matches(desk: Desk) -> None:
    words = ("heron", "stork", "crane")
    with desk.store.write() as tx:
        for n in range(120):
            told = [word for bit, word in enumerate(words) if (n % 7 + 1) >> bit & 1]
            add(tx, desk.memory(" ".join([*told, *["x"] * (n % 11)])))
    with desk.store.read() as tx:
        every = tx.index.match(desk.sight(), words, 60)
        kept, average = tx.index.likeliest(desk.sight(), words, 60, 20)
    assert average == sum(hit.length for hit in every) / 60
    worth = sorted((damped(hit.score, hit.length, average) for hit in every), reverse=True)
    assert [damped(hit.score, hit.length, average) for hit in kept] == pytest.approx(worth[:20])


def test_no_query_and_no_room_find_nothing(desk: Desk) -> None:
    desk.add("heron")
    with desk.store.read() as tx:
        assert tx.index.match(desk.sight(), [], 9) == []
        assert tx.index.match(desk.sight(), ["heron"], 0) == []
        assert tx.index.match(desk.sight(), ["stork"], 9) == []
        assert tx.index.frequencies(desk.sight(), [], 9) == (1, {})


def test_frequencies_tell_how_many_passages_in_the_scopes_have_a_token(desk: Desk) -> None:
    for n in range(5):
        desk.add(f"heron {n}")
    desk.add("heron elsewhere", scope="project:x")
    desk.change(desk.add("heron gone"), status="deleted")
    desk.add("heron foreign", vault="w")
    with desk.store.read() as tx:
        assert tx.index.frequencies(desk.sight(), ["heron", "3", "stork"], 99) == (5, {"heron": 5, "3": 1, "stork": 0})
        assert tx.index.frequencies(desk.sight("user", "project:x"), ["heron"], 99) == (6, {"heron": 6})
        assert tx.index.frequencies(desk.sight("project:none"), ["heron"], 99) == (0, {"heron": 0})
        total, found = tx.index.frequencies(desk.sight(), ["heron"], 3)
        assert total == 5
        assert found["heron"] >= 3


def test_how_common_a_word_is_is_remembered_until_something_changes(desk: Desk) -> None:
    def heron() -> int:
        with desk.store.read() as tx:
            return tx.index.frequencies(desk.sight(), ["heron"], 99)[1]["heron"]

    assert [heron(), heron()] == [0, 0]
    desk.add("heron one")
    assert [heron(), heron()] == [1, 1]
    with suppress(ZeroDivisionError), desk.store.write() as tx:
        assert add(tx, desk.memory("heron never"))
        assert tx.index.frequencies(desk.sight(), ["heron"], 99)[1] == {"heron": 2}
        raise ZeroDivisionError
    assert heron() == 1
    desk.add("stork")
    assert heron() == 1


def test_a_common_token_is_never_taken_for_a_rare_one(desk: Desk) -> None:
    with desk.store.write() as tx:
        for n in range(300):
            add(tx, desk.memory(f"heron {n} stork" if n % 3 == 0 else f"heron {n}"))
    with desk.store.read() as tx:
        total, found = tx.index.frequencies(desk.sight(), ["heron", "stork", "7"], 40)
    assert total == 300
    assert 200 <= found["heron"] <= 400
    assert 40 <= found["stork"] <= 200
    assert found["7"] == 1


QUERIES = [
    'heron" OR "1', "heron*", "body:heron", "NEAR(heron, stork)", "-heron", "^heron", "heron'); DROP TABLE passage; --",
    "(heron", "heron)", "{heron}", "AND", "OR NOT", "s1:heron", "\x00", "\ud800", "🦑", "%", "_", "\\", "''",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_data_whatever_it_looks_like(desk: Desk, query: str) -> None:
    """DESIGN rule 3; B001, B004, B005, B008."""
    memory = desk.add("a heron and a stork")
    foreign = desk.add("a heron in another vault", vault="w")
    with desk.store.read() as tx:
        for tokens in (analyze(query, query=True), [query]):
            assert {hit.memory for hit in tx.index.match(desk.sight(), tokens, 9)} <= {memory.id}
            tx.index.frequencies(desk.sight(), tokens, 9)
            assert foreign.id not in {hit.memory for hit in tx.index.match(desk.sight(scopes=None), tokens, 9)}


@pytest.fixture(scope="module")
def shared(engine_name: Engine, new_module_store: NewStore):  # type: ignore[no-untyped-def]
    clock = Clock()
    store = open_store(new_module_store(engine_name), clock)
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    yield Desk(store, clock)
    store.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def engine_name(request: pytest.FixtureRequest) -> Engine:
    name: Engine = request.param
    return name


@given(text=st.text(min_size=1, max_size=60), query=st.text(max_size=60))
def test_any_text_is_found_by_any_of_its_tokens_and_any_query_is_answered(shared: Desk, text: str, query: str) -> None:
    text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    desk = shared
    memory = desk.memory(text)
    with desk.store.write() as tx:
        tx.memories.add(memory, memory.id)
        tx.index.put("v", [passage(memory, tx.now)])
    sight = desk.sight()
    with desk.store.write() as tx:
        for token in dict.fromkeys(analyze(text)):
            assert memory.id in {hit.memory for hit in tx.index.match(sight, [token], 999)}, token
        wanted = set(analyze(query, query=True))
        for hit in tx.index.match(sight, sorted(wanted), 999):
            assert wanted & set(hit.tokens.split(" "))
        tx.memories.purge("v", [memory.id])
