"""Questions with known answers, asked of each leg, on both engines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.models.reranker.http import HttpReranker, RerankEndpoint
from dolmen.services.evaluation import Question, from_feedback, from_file, held_back, legs_of, measure
from dolmen.services.evaluation.questions import made_from
from dolmen.services.feedback import feedback
from dolmen.services.forget import forget
from dolmen.services.requests import FeedbackRequest, Forget
from tests.models.rerank_endpoint import RerankServer
from tests.services.conftest import House


def ask(house: House, *questions: Question, floor: bool = True) -> dict[str, list[int | None]]:
    """Per leg, the place of the first right answer to each question."""
    found = measure(house.rt, house.agent, questions, legs_of(house.rt), project="*", floor=floor)
    return {each.leg: [ranking.place for ranking in each.rankings] for each in found}


def test_each_leg_is_measured_apart(knowing_house: House) -> None:
    house = knowing_house
    signing = house.stored("We rotate the signing keys every ninety days.")
    ticket = house.stored("Ticket OPS-4711 tracks the outage.", project="elsewhere")
    for text in ("Lunch is at noon.", "The logo is blue.", "CI runs on every push.", "Invoices go out monthly."):
        house.stored(text)
    for text in ("The mascot is a heron.", "Use tabs in Go.", "Docs live in the wiki.", "The lift is broken."):
        house.stored(text)
    meant = Question("서명 키는 얼마나 자주 교체하나요", frozenset((signing,)))
    named = Question("OPS-4711", frozenset((ticket,)))
    places = ask(house, meant, named)
    assert list(places) == ["words", "meaning", "fused"]
    assert places["words"] == [None, 1]
    assert places["meaning"][0] == 1
    assert places["fused"] == [1, 1]
    with house.rt.store.read() as tx:
        assert list(tx.journal.recalled("main")) == []  # nothing is recorded


def test_the_floor_can_be_left_out(knowing_house: House) -> None:
    texts = [f"Service number {n} is deployed by pipeline {n * 7}." for n in range(12)]
    nonsense = Question("zqjw vkpf", frozenset(knowing_house.stored(text) for text in texts))
    assert ask(knowing_house, nonsense)["fused"] == [None]
    assert ask(knowing_house, nonsense, floor=False)["fused"][0] is not None


def test_a_reranker_is_the_last_leg_and_one_that_fails_is_counted(house: House) -> None:
    house.stored("Heron heron heron.")
    right = house.stored("The heron nests in the tall reed by the lake.")
    question = Question("heron", frozenset((right,)))
    with RerankServer() as server:
        server.score = lambda query, text: 0.9 if "reed" in text else 0.1
        house.rt = replace(house.rt, reranker=HttpReranker(RerankEndpoint(server.url)))
        words, reranked = measure(house.rt, house.agent, [question], legs_of(house.rt), project=None)
        assert (words.rankings[0].place, reranked.rankings[0].place) == (2, 1)
        assert (reranked.means["mrr"], words.means["mrr"]) == (1.0, 0.5)
        server.body = b"nonsense"
        broken = Question("herons", frozenset((right,)))
        [failed] = measure(house.rt, house.agent, [broken], ("reranked",), project=None)
        assert failed.failed == 1
        assert house.rt.reranker is not None
        house.rt.reranker.close()


def test_questions_come_from_a_file(house: House) -> None:
    heron = house.stored("Herons nest in May.")
    twin = house.stored("Herons leave in September.")
    lines = [
        f'{{"query": "when do herons nest", "refs": ["{heron[-8:]}"]}}',
        "",
        '{"question": "herons", "contains": "herons"}',
        '{"query": "gone", "ref": "00000000"}',
        '{"query": "gone", "contains": ["no such words"]}',
    ]
    found = from_file(house.rt, house.agent, lines, project="*", table=False)
    assert [(q.text, q.right) for q in found.asked] == [
        ("when do herons nest", {heron}),
        ("herons", {heron, twin}),
    ]
    assert [each.partition(":")[0] for each in found.left_out] == ["line 4", "line 5"]
    table = ["query,refs,contains", f'"when, exactly?",{heron} {twin[-8:]},', "herons,,nest"]
    found = from_file(house.rt, house.agent, table, project="*", table=True)
    assert [(q.text, q.right) for q in found.asked] == [("when, exactly?", {heron, twin}), ("herons", {heron})]


@pytest.mark.parametrize("line", ["not json", "[]", '{"query": ""}', '{"query": "x"}', '{"refs": ["a"]}', "[" * 10_000])
def test_a_line_that_is_no_question_is_named(house: House, line: str) -> None:
    with pytest.raises(DolmenError, match="Line 1") as refused:
        from_file(house.rt, house.agent, [line], project="*", table=False)
    assert refused.value.code == "invalid-argument"
    assert '"query"' in refused.value.fix


def test_feedback_makes_questions_of_what_was_found_relevant(house: House) -> None:
    good = house.stored("Herons nest in May.")
    other = house.stored("Herons leave in September.")
    gone = house.stored("The mascot is green.")
    first, second, third = (house.recall(query).event for query in ("herons", "when do herons nest", "mascot"))
    for event, refs, relevant in (
        (first, (), True),
        (second, (good,), True),
        (second, (other,), False),
        (third, (), True),
    ):
        feedback(house.rt, house.agent, FeedbackRequest(event=event, refs=refs, relevant=relevant))
    forget(house.rt, house.agent, Forget(ref=gone))
    found = from_feedback(house.rt, house.agent, project="*")
    assert {q.text: q.right for q in found.asked} == {"herons": {good, other}, "when do herons nest": {good}}
    assert found.left_out == ("1 whose memories are gone or out of sight",)
    assert "flatter" in found.source


def test_held_back_memories_make_the_same_questions_each_time(house: House) -> None:
    for n in range(30):
        house.stored(f"Station {n} reports the water level of the northern river every {n} minutes.")
    titled = house.stored("The gate opens at seven.", title="When visitors may enter")
    house.stored("Yes.")
    found = held_back(house.rt, house.agent, 50, project="*")
    assert len(found.asked) == 31
    assert Question("When visitors may enter", frozenset((titled,))) in found.asked
    assert "1 titles, and 30 times half" in found.source
    assert "easier than what people ask" in found.source
    assert found.left_out == ("1 too short to make a question of",)
    fewer = held_back(house.rt, house.agent, 5, project="*")
    assert held_back(house.rt, house.agent, 5, project="*") == fewer
    assert len(fewer.asked) == 5  # also where one too short is among the chosen
    assert ask(house, *fewer.asked)["words"] == [1] * 5


def test_a_question_made_from_a_memory_leaves_half_of_its_words_out(house: House) -> None:
    ref = house.stored("The parser reads nested lists of any depth. It is fast.")
    with house.rt.store.read() as tx:
        memory = tx.memories.get("main", ref)
    assert memory is not None
    assert made_from(memory) == "reads lists depth"
