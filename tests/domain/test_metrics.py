"""The measures, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from dolmen.domain.metrics import METRICS, Ranking, hit, means, ndcg, reciprocal_rank

RANKING = ("a", "b", "c", "d")


def test_hit_and_reciprocal_rank_look_at_the_first_right_one() -> None:
    assert [hit(RANKING, {"c"}, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert reciprocal_rank(RANKING, {"c", "d"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKING, {"c"}, 2) == 0
    assert reciprocal_rank((), {"c"}) == 0


def test_ndcg_compares_with_the_best_order() -> None:
    assert ndcg(RANKING, {"a", "b"}) == 1
    assert ndcg(RANKING, {"b"}) == pytest.approx(1 / math.log2(3))
    assert ndcg(RANKING, {"a", "d", "x"}) == pytest.approx((1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2))
    assert ndcg(RANKING, set()) == 0


def test_means_are_over_all_questions_and_zero_without_any() -> None:
    found = means([Ranking(RANKING, frozenset("a")), Ranking(RANKING, frozenset("x"))])
    assert tuple(found) == METRICS
    assert set(found.values()) == {0.5}
    assert set(means([]).values()) == {0.0}
    assert Ranking(RANKING, frozenset("c")).place == 3
    assert Ranking(RANKING, frozenset("x")).place is None
