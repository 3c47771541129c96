"""The embedded model of platforms that the default has no wheel for."""

from __future__ import annotations

import pytest

from dolmen.models.use import use_embedder

pytestmark = pytest.mark.slow


def test_a_question_is_nearer_to_its_answer_in_either_language() -> None:
    embedder = use_embedder()
    documents = embedder.embed_documents(
        ["We ship only on Tuesday.", "릴리스는 화요일에만 나간다.", "The cache holds 512 rows."]
    )
    for question in ("On which weekday are releases allowed?", "배포는 무슨 요일에 하나?"):
        english, korean, other = documents @ embedder.embed_query(question)
        assert min(english, korean) > other
    embedder.close()


def test_what_is_unrelated_is_not_known_for_it() -> None:
    embedder = use_embedder()
    assert embedder.unrelated("anything") is None
    embedder.close()
