"""From the numbers of two legs to one list."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.ranking import (
    Background,
    Facts,
    Lexical,
    bm25,
    chance,
    fuse,
    idf,
    order,
    recency,
    signals,
)
from dolmen.domain.ranking.fusion import worth_of_words
from dolmen.domain.text import analyze
from dolmen.domain.values import DAY

BACKGROUND = Background(mean=0.75, deviation=0.02, unrelated=0.78, passages=10)


def search(query: str, texts: list[str]) -> dict[int, Lexical]:
    """The text leg over a few texts, each a passage."""
    tokens = analyze(query, query=True)
    passages = {n: analyze(text) for n, text in enumerate(texts)}
    frequencies = {t: sum(t in p for p in passages.values()) for t in tokens}
    return bm25(tokens, passages, len(texts), frequencies)


def test_a_rare_word_says_more_than_a_common_one() -> None:
    assert idf(1_000, 1) > idf(1_000, 500) > idf(1_000, 1_000) > 0
    found = search("cache invalidation", ["the cache is warm", "cache and cache", "invalidation is hard", "cache miss"])
    assert max(found, key=lambda n: found[n].score) == 2


def test_a_word_that_no_passage_has_takes_nothing_from_those_that_match() -> None:
    known = search("retry limit", ["the retry limit is five", "unrelated"])
    unknown = search("retry limit zyxwv", ["the retry limit is five", "unrelated"])
    assert known[0].score == unknown[0].score
    assert known[0].coverage == pytest.approx(1.0)
    assert unknown[0].coverage < 0.8


def test_function_words_cover_next_to_nothing() -> None:
    found = search("what is the retry limit", ["what is the matter", "limit of the retry", "nothing", "else", "here"])
    assert found[0].coverage < 0.25 < 0.75 < found[1].coverage  # in a real store the gap is wider


def test_a_long_passage_needs_more_repetitions() -> None:
    found = search("deploy", ["deploy " + "other words entirely here " * 30, "deploy on friday", "nothing"])
    assert found[1].score > found[0].score


def test_the_keyword_hit_that_only_words_find_comes_first() -> None:
    """B020: a weighted sum with a minimum score must not make it impossible."""
    texts = ["PAY-4821 is about refunds", "refunds are slow", "tickets are closed on Friday", "the queue of tickets"]
    lexical = search("PAY-4821", texts)
    cosines = {0: 0.70, 1: 0.86, 2: 0.88, 3: 0.87}  # the vector leg prefers all the others
    assert fuse(lexical, cosines, BACKGROUND)[0].id == 0
    asked = search("what was decided in PAY-4821?", texts)
    first = fuse(asked, cosines, BACKGROUND)[0]
    assert (first.id, first.exact) == (0, True)


def test_an_identifier_that_many_passages_have_is_not_exact() -> None:
    texts = [f"team-alpha note {n}" for n in range(50)] + ["team-alpha retry limit"]
    assert not any(entry.exact for entry in search("team-alpha", texts).values())


def test_nothing_above_the_floor_is_no_answer() -> None:
    """B023: gibberish returns nothing, not the nearest neighbours."""
    assert fuse({}, {n: 0.76 + n / 1_000 for n in range(20)}, BACKGROUND) == []
    assert fuse({}, {}, None) == []


def test_words_in_common_lift_a_passage_over_the_floor() -> None:
    below = {7: 0.77}
    assert fuse({7: Lexical(3.0, 0.1)}, below, BACKGROUND) == []
    assert [r.id for r in fuse({7: Lexical(9.0, 0.6)}, below, BACKGROUND)] == [7]


def test_a_crowd_of_passages_raises_the_floor() -> None:
    found = {1: 0.79}
    few = Background(0.75, 0.02, 0.78, passages=10)
    many = Background(0.75, 0.02, 0.78, passages=100_000)
    elsewhere = {2: Lexical(0.5, 0.02)}  # another passage has a word of the question
    assert [entry.id for entry in fuse(elsewhere, found, few)] == [1]
    assert fuse(elsewhere, found, many) == []


def test_a_question_of_which_no_word_is_known_needs_nearer_passages() -> None:
    """B023"""
    assert fuse({}, {1: 0.79}, BACKGROUND) == []
    assert len(fuse({}, {1: 0.80}, BACKGROUND)) == 1


def test_an_answer_that_neither_leg_is_sure_of_is_called_weak() -> None:
    background = Background(0.75, 0.02, 0.78)
    near, far = fuse({1: Lexical(0.5, 0.02)}, {1: 0.84, 2: 0.785}, background)
    assert (near.id, near.weak, far.id, far.weak) == (1, False, 2, True)


def test_candidates_far_less_likely_than_the_best_are_left_out() -> None:
    background = Background(0.75, 0.02)
    ranked = fuse({1: Lexical(20.0, 0.9)}, {1: 0.87, 2: 0.76, 3: 0.83}, background)
    assert [entry.id for entry in ranked] == [1, 3]


def test_agreement_of_both_legs_beats_either_alone() -> None:
    lexical = {1: Lexical(8.0, 0.5), 2: Lexical(8.0, 0.5)}
    ranked = fuse(lexical, {1: 0.82, 2: 0.79, 3: 0.82}, Background(0.75, 0.02))
    assert ranked[0].id == 1


def test_words_that_the_nearest_passages_have_anyway_say_little_more() -> None:
    near = {n: 0.80 + n / 1_000 for n in range(10)}
    far = {99: 0.74}
    background = Background(0.75, 0.02)
    known = {n: Lexical(5.0, 0.4) for n in near} | {99: Lexical(6.0, 0.5)}
    unknown = {99: Lexical(6.0, 0.5)}
    assert worth_of_words(unknown, near | far, background) > 2 * worth_of_words(known, near | far, background)
    assert fuse(unknown, near | far, background)[0].id == 99
    assert fuse(known, near | far, background)[0].id == 9


def test_words_that_are_everywhere_are_not_taken_for_understood() -> None:
    near = dict.fromkeys(range(10), 0.8)
    everywhere = {n: Lexical(1.0, 0.3) for n in near} | {99: Lexical(6.0, 0.6)}
    plain = worth_of_words(everywhere, near, Background(0.75, 0.02))
    assert worth_of_words(everywhere, near, Background(0.75, 0.02, chance=0.3)) > plain


def test_the_coverage_that_comes_by_chance_is_that_of_an_average_passage() -> None:
    texts = ["deploy on friday", "deploy on monday", "deploy on tuesday", "the cache"]
    tokens = analyze("deploy cache", query=True)
    frequencies = {token: sum(token in analyze(text) for text in texts) for token in tokens}
    found = search("deploy cache", texts)
    mean = sum(entry.coverage for entry in found.values()) / len(texts)
    assert chance(tokens, len(texts), frequencies) == pytest.approx(mean)
    assert chance(tokens, 0, {}) == 0.0


def test_beside_an_answer_a_passage_little_below_the_floor_is_shown_too() -> None:
    background = Background(0.75, 0.02, 0.78)
    beside = {1: Lexical(0.5, 0.02)}
    assert [entry.id for entry in fuse(beside, {1: 0.80, 2: 0.775, 3: 0.76}, background)] == [1, 2]
    assert fuse(beside, {2: 0.775, 3: 0.76}, background) == []


def test_without_vectors_the_words_decide_in_the_order_of_bm25() -> None:
    """C-158"""
    lexical = {1: Lexical(2.0, 0.3), 2: Lexical(6.0, 0.6), 3: Lexical(0.1, 0.01)}
    ranked = fuse(lexical, {})
    assert [entry.id for entry in ranked] == [2, 1]
    assert all(entry.vector is None for entry in ranked)


def test_a_passage_that_has_no_vector_yet_is_found_by_its_words() -> None:
    """C-158: memories written while the model was away."""
    ranked = fuse({1: Lexical(9.0, 0.7)}, {2: 0.80}, Background(0.75, 0.02, 0.78))
    assert ranked[0].id == 1


def test_a_tiny_store_is_judged_by_what_the_model_knows() -> None:
    background = Background(unrelated=0.78)
    assert [entry.id for entry in fuse({}, {1: 0.85, 2: 0.75}, background)] == [1]


@given(
    lexical=st.dictionaries(
        st.integers(0, 30), st.builds(Lexical, st.floats(0, 100), st.floats(0, 1), st.booleans()), max_size=20
    ),
    cosines=st.dictionaries(st.integers(0, 30), st.floats(-1, 1), max_size=20),
    background=st.none()
    | st.builds(
        Background,
        st.none() | st.floats(-1, 1),
        st.none() | st.floats(0, 1),
        st.none() | st.floats(-1, 1),
        st.integers(0, 10**9),
    ),
)
def test_any_numbers_give_scores_between_0_and_1_in_order(
    lexical: dict[int, Lexical], cosines: dict[int, float], background: Background | None
) -> None:
    """C-148"""
    ranked = fuse(lexical, cosines, background)
    assert all(0 < entry.score <= 1 for entry in ranked)
    assert {entry.id for entry in ranked} <= lexical.keys() | cosines.keys()
    keys = [(not entry.exact, -entry.score) for entry in ranked]
    assert keys == sorted(keys)
    assert {n for n, entry in lexical.items() if entry.exact} <= {entry.id for entry in ranked}


def test_code_that_is_gone_keeps_a_twentieth_and_code_that_changed_three_fifths() -> None:
    """C-154"""
    assert signals(0.8, Facts(code_gone=True)) == pytest.approx(0.04)
    assert signals(0.8, Facts(code_changed=True)) == pytest.approx(0.48)
    assert signals(0.8, Facts()) == 0.8


def test_a_question_about_recent_work_prefers_what_is_new() -> None:
    """C-155"""
    new, week, old = (signals(0.8, Facts(age=days * DAY), recent=True) for days in (0, 7, 365))
    assert new == pytest.approx(0.8)
    assert new > week > old > 0
    assert 1 - recency(0.8, 7 * DAY) == pytest.approx((1 - recency(0.8, 10_000 * DAY)) / 2)
    assert recency(0.99, 365 * DAY) > 0.85  # a sure answer stays one
    assert recency(0.1, 365 * DAY) < 0.3
    assert signals(0.8, Facts(age=365 * DAY)) == 0.8  # no other question cares


def test_importance_and_verification_break_ties_only() -> None:
    plain, important = Facts(importance=0.5), Facts(importance=0.9, verified=True)
    assert order(0.7, important) < order(0.7, plain)
    assert order(0.71, plain) < order(0.7, important)


def test_scores_stay_finite_at_the_edges() -> None:
    ranked = fuse({1: Lexical(1.0, 1.0)}, {1: 1.0, 2: -1.0}, Background(-1.0, 0.0))
    assert all(math.isfinite(entry.score) for entry in ranked)
