"""The second stage against a real rerank server, on both engines (C-152, C-153, C-156, C-157)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dolmen.domain.memory import SUMMARY
from dolmen.domain.values import DAY
from dolmen.models.reranker.http import HttpReranker, RerankEndpoint
from dolmen.services.context import context
from dolmen.services.edit import edit, link
from dolmen.services.forget import forget
from dolmen.services.requests import ContextRequest, Edit, Forget
from tests.models.rerank_endpoint import RerankServer
from tests.services.conftest import House

LIMIT = 0.5


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as server:
        yield server


@pytest.fixture
def judging(house: House, server: RerankServer) -> Iterator[House]:
    """The house with that server as its reranker."""
    reranker = HttpReranker(RerankEndpoint(server.url, "m"))
    house.rt = replace(house.rt, reranker=reranker)
    yield house
    reranker.close()


def test_the_rerankers_probability_is_the_score_and_the_order(judging: House, server: RerankServer) -> None:
    """C-153, C-157."""
    herons = judging.stored("The heron report names herons, herons and more herons.")
    right = judging.stored("Where the heron nests: in the tall reed by the lake.")
    server.score = lambda query, text: 0.9 if "nests" in text else 0.1
    pack = judging.recall("heron", include=("explain",))
    assert [(claim.ref, claim.score) for claim in pack.claims] == [(right, 0.9), (herons, 0.1)]
    assert pack.index_health["legs"] == ["words", "reranked"]
    assert (pack.partial, pack.notes) == (False, ())
    assert pack.claims[0].explain is not None
    assert pack.claims[0].explain["reranked"] == 0.9
    [(_, _, body)] = server.requests
    assert body["query"] == "heron"


def test_only_the_best_are_judged_and_the_rest_follow_in_their_order(judging: House, server: RerankServer) -> None:
    """C-153: fifteen, or as many as the settings say."""
    for n in range(40):
        judging.stored(f"Heron observation {n} in the marsh.")
    assert len(judging.recall("heron marsh", limit=30, budget_tokens=None).claims) == 30
    assert len(server.requests[0][2]["documents"]) == 15
    judging.rt = replace(judging.rt, options=replace(judging.rt.options, rerank_top=3))
    server.score = lambda query, text: 0.2
    claims = judging.recall("heron in the marsh", limit=10, budget_tokens=None).claims
    assert len(server.requests[1][2]["documents"]) == 3
    assert [claim.score for claim in claims] == sorted((claim.score for claim in claims), reverse=True)
    assert claims[-1].score <= 0.2


@pytest.mark.parametrize("trouble", ["slow", "wrong", "500"])
def test_without_an_answer_in_time_the_first_order_stands_without_neighbours(
    judging: House, server: RerankServer, trouble: str
) -> None:
    """C-153: the call succeeds, and says what was done without."""
    first = judging.stored("Heron counts: 12 herons in May.")
    second = judging.stored("The heron is a bird of the marsh, of lakes and rivers and of much else besides.")
    neighbour = judging.stored("Feeding times are at dawn.")
    link(judging.rt, judging.agent, first, "about", neighbour)
    if trouble == "slow":  # with a shorter limit, so that the test does not wait four seconds
        server.hang = True
        judging.rt = replace(judging.rt, reranker=HttpReranker(RerankEndpoint(server.url, "m"), limit=LIMIT))
    server.body = b'{"results": []}' if trouble == "wrong" else None
    server.failures = [500, 500] if trouble == "500" else []
    started = time.monotonic()
    pack = judging.recall("heron counts")
    assert time.monotonic() - started < 4
    assert [claim.ref for claim in pack.claims] == [first, second]
    assert pack.index_health["legs"] == ["words"]
    assert pack.partial
    assert pack.notes[0].startswith("not reranked: ")


def test_what_is_one_edge_away_from_the_best_joins_them(judging: House, server: RerankServer) -> None:
    """C-152: a summary brings the facts that came from it, and a fact the others of its session."""
    summary = judging.stored("Session about the checkout migration.", label=SUMMARY, kind="episode")
    fact = judging.stored("Orders move in batches of 500.")
    link(judging.rt, judging.agent, fact, "derived_from", summary)
    sibling_of = judging.stored("Checkout freeze begins on Monday.", session="s-1")
    sibling = judging.stored("Rollback needs the old schema.", session="s-1")
    far = judging.stored("Herons nest in May.")
    server.score = lambda query, text: 0.8 if "batches" in text else 0.6 if "Rollback" in text else 0.3
    pack = judging.recall("checkout")
    assert [claim.ref for claim in pack.claims][:2] == [fact, sibling]
    assert {claim.ref for claim in pack.claims} == {fact, sibling, summary, sibling_of}
    assert not pack.claims[0].weak
    assert far not in {claim.ref for claim in pack.claims}
    judging.rt = replace(judging.rt, reranker=None)
    assert set(judging.refs("checkout")) == {summary, sibling_of}


def test_a_neighbour_is_seen_only_through_the_same_filter(judging: House, server: RerankServer) -> None:
    """DESIGN rule 2."""
    server.score = lambda query, text: 0.9
    seed = judging.stored("The importer reads CSV.", project="mine", session="s")
    for text, fields in (
        ("Elsewhere: quotes matter.", {"project": "theirs"}),
        ("A decision on commas.", {"project": "mine", "kind": "decision"}),
        ("A forgotten remark.", {"project": "mine"}),
    ):
        ref = judging.stored(text, **fields)
        link(judging.rt, judging.agent, seed, "about", ref)
    forget(judging.rt, judging.agent, Forget(ref=ref))
    judging.stored("Same session, other project.", project="theirs", session="s")
    assert judging.refs("importer", project="mine", kinds=("fact",)) == [seed]
    found = judging.recall("importer", project="mine").claims
    assert {claim.text for claim in found} == {"The importer reads CSV.", "A decision on commas."}


def test_a_sessions_summary_loses_with_age_only_what_a_reranker_gave(judging: House, server: RerankServer) -> None:
    """C-156: up to 40 %, half of it after thirty days."""
    summary = judging.stored("Checkout work was finished.", label=SUMMARY, kind="episode")
    fact = judging.stored("Checkout uses Postgres.")
    judging.clock.advance(30 * DAY)
    server.score = lambda query, text: 0.5
    scores = {claim.ref: claim.score for claim in judging.recall("checkout").claims}
    assert scores[fact] == 0.5
    assert scores[summary] == pytest.approx(0.4, abs=0.001)


def test_signals_come_after_the_reranker(judging: House, server: RerankServer) -> None:
    """C-154: what refers to code that is gone keeps a twentieth of its score."""
    gone = judging.stored("parse_block splits lists.")
    there = judging.stored("The parser splits lists by blocks.")
    with judging.rt.store.write() as tx:
        tx.memories.note("main", gone, {"code": "gone"})
    server.score = lambda query, text: 0.9 if "parse_block" in text else 0.4
    claims = judging.recall("how are lists splits").claims
    assert [(claim.ref, claim.score) for claim in claims] == [(there, 0.4), (gone, 0.045)]


def test_an_exact_identifier_keeps_its_place_whatever_the_reranker_says(judging: House, server: RerankServer) -> None:
    """B020."""
    right = judging.stored("Ticket OPS-4711 tracks the outage.")
    judging.stored("The outage of Tuesday had a ticket.")
    server.score = lambda query, text: 0.01 if "OPS" in text else 0.9
    assert judging.refs("OPS-4711")[0] == right


def test_no_transaction_is_open_while_the_reranker_works_and_what_changed_meanwhile_is_shown_as_it_is(
    judging: House, server: RerankServer
) -> None:
    edited = judging.stored("The heron ledger is kept in the blue room.")
    gone = judging.stored("The heron ledger is audited in June.")

    def meanwhile(query: str, text: str) -> float:
        if "blue" in text:
            edit(judging.rt, judging.agent, Edit(edited, "amend", "The heron ledger is kept in the red room."))
            forget(
                judging.rt,
                judging.agent,
                Forget(ref=gone, mode="purge"),
            )
        return 0.7

    server.score = meanwhile
    judging.agent = judging.owner
    assert [claim.text for claim in judging.recall("heron ledger").claims] == [
        "The heron ledger is kept in the red room."
    ]


def test_the_pages_of_a_reranked_answer_follow_one_another(judging: House, server: RerankServer) -> None:
    refs = [judging.stored(f"Heron observation {n} in the marsh.") for n in range(20)]
    server.score = lambda query, text: (int(text.split()[2]) % 7) / 10
    seen: list[str] = []
    cursor = None
    while True:
        pack = judging.recall("heron marsh", limit=6, cursor=cursor, budget_tokens=None)
        seen += [claim.ref for claim in pack.claims]
        cursor = pack.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(refs)
    assert len(server.requests) == 1  # the same question about the same texts is judged once


def test_a_brief_ranks_what_is_relevant_with_the_reranker_too(judging: House, server: RerankServer) -> None:
    """C-148."""
    judging.stored("Heron heron heron.")
    right = judging.stored("The heron nests in the reed.")
    server.score = lambda query, text: 0.9 if "reed" in text else 0.1
    brief = context(judging.rt, judging.agent, ContextRequest(task="heron"))
    assert brief.relevant[0].ref == right
    server.body = b"nonsense"
    brief = context(judging.rt, judging.agent, ContextRequest(task="herons"))
    assert brief.partial
    assert brief.notes[0].startswith("not reranked: ")
    assert context(judging.rt, judging.agent, ContextRequest()).notes == ()


def test_listings_and_greps_are_not_judged(judging: House, server: RerankServer) -> None:
    judging.stored("Run `make build` first.")
    assert len(judging.refs("make build", mode="exact")) == 1
    assert len(judging.refs(" ")) == 1
    assert judging.refs("nothing of the sort") == []
    assert server.requests == []
