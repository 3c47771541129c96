"""`contract.Links` and `contract.Proposals`."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from tests.contract.given import START, Desk, link, proposal


def test_an_edge_is_kept_once_and_takes_the_newest_weight(desk: Desk) -> None:
    desk.known("a")
    with desk.store.write() as tx:
        assert tx.links.add("v", link("a", "b", weight=0.25))
        assert not tx.links.add("v", link("a", "b", weight=0.75, agent="other"))
        assert tx.links.add("v", link("a", "b", rel="contradicts"))
        assert tx.links.around("v", ["a"]) == [
            link("a", "b", rel="contradicts"),
            link("a", "b", weight=0.75),
        ]


def test_edges_are_found_from_both_ends_once(desk: Desk) -> None:
    desk.known("a", "b", "c")
    desk.known("a2", vault="w")
    edges = [link("a", "b"), link("c", "a", created_at=START + 1), link("b", "d", created_at=START + 2)]
    with desk.store.write() as tx:
        for edge in edges:
            tx.links.add("v", edge)
        tx.links.add("w", link("a2", "z"))
    with desk.store.read() as tx:
        assert sorted(tx.links.around("v", ["a"]), key=lambda e: e.created_at) == edges[:2]
        assert sorted(tx.links.around("v", ["a", "b", "c"]), key=lambda e: e.created_at) == edges
        assert tx.links.around("v", []) == []
        assert tx.links.around("w", ["b"]) == []
        assert list(tx.links.stream("v")) == sorted(edges, key=lambda e: e.source)


def test_an_edge_is_removed_once(desk: Desk) -> None:
    desk.known("a")
    with desk.store.write() as tx:
        tx.links.add("v", link("a", "b"))
        assert not tx.links.remove("w", "a", "supports", "b")
        assert not tx.links.remove("v", "a", "contradicts", "b")
        assert tx.links.remove("v", "a", "supports", "b")
        assert not tx.links.remove("v", "a", "supports", "b")
        assert list(tx.links.stream("v")) == []


def test_a_proposal_comes_back_as_it_was_stored(desk: Desk) -> None:
    desk.known("m")
    full = proposal(
        "p",
        op="supersede",
        memory="m",
        base_version=3,
        payload={"text": "한글 \U0001f389", "fields": {"tags": ["a"], "ttl": None}},
        reason="r",
        because="mode",
        agent="a",
        person="o",
        connection="c",
        created_at=START,
    )
    with desk.store.write() as tx:
        tx.proposals.add(full)
        assert tx.proposals.get("v", "p") == full
        assert tx.proposals.get("w", "p") is None
        assert tx.proposals.get("v", "q") is None
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:
        tx.proposals.add(full)
    assert refused.value.code == "conflict"


def test_proposals_are_listed_oldest_first(desk: Desk) -> None:
    desk.known("m")
    desk.known("n", vault="w")
    late = proposal("a", created_at=START + 9, connection="c1", memory="m")
    early = proposal("b", created_at=START, connection="c2", memory="m")
    done = proposal("c", created_at=START + 1, status="applied", decided_at=START + 2, decided_by="o")
    with desk.store.write() as tx:
        for each in (late, early, done, proposal("d", vault="w", memory="n")):
            tx.proposals.add(each)
    with desk.store.read() as tx:
        assert tx.proposals.select("v") == [early, late]
        assert tx.proposals.select("v", limit=1) == [early]
        assert tx.proposals.select("v", connection="c1") == [late]
        assert tx.proposals.select("v", status=None) == [early, done, late]
        assert tx.proposals.select("v", status="applied") == [done]
        assert tx.proposals.for_memory("v", "m") == [early, late]
        assert list(tx.proposals.stream("v")) == [early, done, late]


def test_a_proposal_is_decided_once(desk: Desk) -> None:
    with desk.store.write() as tx:
        tx.proposals.add(proposal("p"))
        assert not tx.proposals.decide("w", "p", "applied", START, "o", "")
        assert tx.proposals.decide("v", "p", "rejected", START, "o", "no need")
        assert not tx.proposals.decide("v", "p", "applied", START + 1, "x", "yes")
        decided = tx.proposals.get("v", "p")
    assert decided == proposal("p", status="rejected", decided_at=START, decided_by="o", decision_note="no need")


def test_proposals_are_destroyed_by_their_ids_decided_or_not(desk: Desk) -> None:
    done = proposal("b", status="applied", decided_at=START + 2, decided_by="o")
    with desk.store.write() as tx:
        for each in (proposal("a"), done, proposal("c"), proposal("a", vault="w")):
            tx.proposals.add(each)
        tx.proposals.remove("v", ["a", "b", "not-here"])
        tx.proposals.remove("v", [])
    with desk.store.read() as tx:
        assert [each.id for each in tx.proposals.stream("v")] == ["c"]
        assert [each.id for each in tx.proposals.stream("w")] == ["a"]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_nothing_is_added_to_a_memory_that_is_not_here(desk: Desk, elsewhere: bool) -> None:
    if elsewhere:
        desk.known("m", vault="w")
    with desk.store.write() as tx:
        for add in (
            lambda: tx.links.add("v", link("m", "b")),
            lambda: tx.proposals.add(proposal("p", memory="m")),
        ):
            with pytest.raises(DolmenError) as refused:
                add()
            assert refused.value.code == "gone"
            assert refused.value.fix
        tx.proposals.add(proposal("q"))
    with desk.store.read() as tx:
        assert list(tx.links.stream("v")) == []
        assert [each.id for each in tx.proposals.stream("v")] == ["q"]
