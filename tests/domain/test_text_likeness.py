"""What counts as the same statement, as a similar one, and as storable text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.text import clean, content_key, fold, trigram_similarity

SAME = [
    ("We use pgx v5.", "we use  pgx v5"),
    ("We use pgx v5", "WE USE PGX V5!!"),
    ("배포는 화요일에 한다.", " 배포는\n화요일에\t한다 "),
    ("部署在星期二。", "部署在星期二"),
    ("Really?", "really"),
    ("And then…", "and then ..."),
    ("Straße", "STRASSE"),
    ("done !", "done"),
    ("first,", "first"),
    ("점검표", unicodedata.normalize("NFD", "점검표")),
    ("\r\nline one\r\nline two", "line one\nline two"),
]
DIFFERENT = [
    ("We use pgx v5", "We use pgx v4"),
    ("a b", "ab"),
    ("use (x)", "use x"),
    ("C++", "C"),
    ("value.", "value/"),
    ("don't", "dont"),
    ("!", "?"),
    ("", "."),
    ("팀은", "팀이"),
    ("1.5", "15"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_case_white_space_and_trailing_punctuation_do_not_make_another_statement(one: str, two: str) -> None:
    """C-110"""
    assert content_key(one) == content_key(two)


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_anything_else_makes_another_statement(one: str, two: str) -> None:
    """C-110"""
    assert content_key(one) != content_key(two)


@given(st.text(alphabet=st.characters(), max_size=80), st.sampled_from([".", "!", "?", "。", "…", "  ", "\n", " . "]))
def test_the_key_of_any_text_ignores_what_is_added_at_its_end(text: str, added: str) -> None:
    """C-110; a text that is punctuation alone is the exception: it keeps what it has."""
    key = content_key(text)
    assert len(key) == 64
    if any(c.isalnum() for c in text):
        assert content_key(text + added) == key
        assert content_key("  " + text) == key


def test_the_key_of_a_megabyte_of_dots_takes_linear_time() -> None:
    """A pattern that looks for the end from every dot would take days."""
    assert len(content_key("." * 1_000_000 + "a")) == 64


@pytest.mark.parametrize(
    ("one", "two", "similarity"),
    [
        ("word", "two words", 0.363636),  # the example of PostgreSQL's documentation
        ("cat", "cat", 1.0),
        ("Cat!", "cat", 1.0),
        ("cat", "dog", 0.0),
        ("", "", 0.0),
        ("", "cat", 0.0),
        ("abc", "abd", 1 / 3),
        ("foo_bar", "foo bar", 1.0),
        ("점검표를 확인", "점검표를 확인", 1.0),
    ],
)
def test_trigram_similarity_is_that_of_postgresql(one: str, two: str, similarity: float) -> None:
    """C-111"""
    assert trigram_similarity(one, two) == pytest.approx(similarity, abs=1e-5)


@given(st.text(max_size=40), st.text(max_size=40))
def test_trigram_similarity_is_symmetric_and_bounded(one: str, two: str) -> None:
    """C-111"""
    assert 0.0 <= trigram_similarity(one, two) == trigram_similarity(two, one) <= 1.0


@pytest.mark.parametrize(
    ("given_text", "stored", "changed"),
    [
        ("plain", "plain", False),
        ("완료 ★ 🎉", "완료 ★ 🎉", False),
        ("log tail: \x00\x00 done", "log tail: \ufffd\ufffd done", True),
        ("half \ud83d", "half \ufffd", True),
        ("\ufffd", "\ufffd", False),
        ("\x01\x1f\x7f\u202e", "\x01\x1f\x7f\u202e", False),
    ],
)
def test_only_what_no_engine_stores_alike_is_replaced(given_text: str, stored: str, changed: bool) -> None:
    """B040 B038"""
    assert clean(given_text) == (stored, changed)


@given(st.text(alphabet=st.characters(), max_size=80))
def test_a_cleaned_text_is_storable_and_stays_as_it_is(text: str) -> None:
    """B040"""
    cleaned, changed = clean(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert len(cleaned) == len(text)
    assert changed == (cleaned != text)
    assert clean(cleaned) == (cleaned, False)


@given(st.text(max_size=80))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_folded_text_is_the_search_key_of_its_other_forms() -> None:
    assert fold("Ｄｏｌｍｅｎ STRAẞE") == fold("dolmen strasse")
    assert fold(unicodedata.normalize("NFD", "점검표")) == "점검표"
