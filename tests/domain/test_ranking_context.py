"""What stands beside a passage in its session lends it evidence."""

from __future__ import annotations

import pytest

from dolmen.domain.ranking import Background, Lexical, Place, Setting, fuse
from dolmen.domain.ranking.context import ORDINARY, SHARES, SHORT, WHOLE

QUESTION, ANSWER, LATER = 1, 2, 3
OWNERS = {QUESTION: "a", ANSWER: "b", LATER: "c"}


def talk(*, length: int = 40) -> Setting[int]:
    return Setting(
        OWNERS, {"a": Place("s", length), "b": Place("s", length, ("a",)), "c": Place("s", length, ("b", "a"))}
    )


def test_the_next_turn_takes_a_share_and_the_one_after_it_less() -> None:
    gained = talk().lifts({QUESTION: 5.0, ANSWER: 0.0, LATER: 0.0})
    near, far = SHARES
    assert gained == pytest.approx({ANSWER: near * (5 - ORDINARY), LATER: far * (5 - ORDINARY)})


def test_it_works_backwards_as_well() -> None:
    gained = talk().lifts({QUESTION: 0.0, ANSWER: 0.0, LATER: 5.0})
    assert gained[ANSWER] > gained[QUESTION] > 0


def test_a_long_text_speaks_for_itself() -> None:
    short, long = (talk(length=length).lifts({QUESTION: 5.0, ANSWER: 0.0})[ANSWER] for length in (SHORT, 4 * SHORT))
    assert long == pytest.approx(short / 4)


def test_what_is_not_near_the_question_lends_nothing() -> None:
    assert talk().lifts({QUESTION: ORDINARY, ANSWER: ORDINARY}) == {}
    assert Setting(OWNERS, {}).lifts({QUESTION: 5.0, ANSWER: 5.0}) == {}


def test_the_rest_of_the_session_counts_less_the_more_of_the_candidates_it_holds() -> None:
    owners = {1: "a", 2: "b", 3: "c", 4: "d"}
    apart = Setting(owners, {"a": Place("s", 40), "b": Place("s", 40), "c": Place("t", 40), "d": Place("u", 40)})
    evidence = {1: 5.0, 2: 0.0, 3: 0.0, 4: 0.0}
    assert apart.lifts(evidence) == pytest.approx({2: WHOLE * (5 - ORDINARY) / 2})
    alone = Setting({1: "a", 2: "b"}, {"a": Place("s", 40), "b": Place("s", 40)})
    assert alone.lifts({1: 5.0, 2: 0.0}) == {}


def test_of_a_long_memory_its_best_passage_lends() -> None:
    setting = Setting({1: "a", 2: "a", 3: "b"}, {"a": Place("s", 40), "b": Place("s", 40, ("a",))})
    assert setting.lifts({1: 1.5, 2: 5.0, 3: 0.0})[3] == pytest.approx(SHARES[0] * (5 - ORDINARY))


def test_a_turn_beside_the_answer_comes_before_one_elsewhere_that_matches_as_well() -> None:
    cosines = {QUESTION: 0.86, ANSWER: 0.80, 9: 0.80}
    setting = Setting({**OWNERS, 9: "z"}, talk().places)
    background = Background(0.75, 0.02, 0.78)
    ranked = fuse({QUESTION: Lexical(5.0, 0.3)}, cosines, background, setting)
    assert [entry.id for entry in ranked] == [QUESTION, ANSWER, 9]
    assert ranked[1].context > 0 == ranked[2].context


def test_neighbours_bring_in_what_is_below_the_floor_but_never_answer_alone() -> None:
    """B023"""
    setting, background = talk(), Background(0.70, 0.02, 0.78)
    said = {QUESTION: Lexical(9.0, 0.6)}
    assert ANSWER in [entry.id for entry in fuse(said, {QUESTION: 0.84, ANSWER: 0.76}, background, setting)]
    assert ANSWER not in [entry.id for entry in fuse(said, {QUESTION: 0.84, ANSWER: 0.76}, background)]
    assert fuse({}, {QUESTION: 0.77, ANSWER: 0.77}, background, setting) == []


def test_words_alone_are_lifted_too() -> None:
    lexical = {QUESTION: Lexical(9.0, 0.8), ANSWER: Lexical(1.0, 0.06), 9: Lexical(1.1, 0.06)}
    setting = Setting({**OWNERS, 9: "z"}, talk().places)
    assert [entry.id for entry in fuse(lexical, {}, None, setting)][:2] == [QUESTION, ANSWER]
