"""Which of two statements can go, by the words alone (C-265, C-267)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from dolmen.domain.consolidating import covered, judged, lost
from dolmen.domain.memory import Memory


def memory(text: str, id: str, **fields: Any) -> Memory:
    made = {"vault": "v", "scope": "user", "kind": "fact", "created_at": int(id)}
    return Memory(**made | {"id": id, "text": text} | fields)


def told(older: str, newer: str, **fields: Any) -> tuple[str, str] | None:
    """(verdict, which one stays)."""
    a, b = memory(older, "1"), memory(newer, "2", **fields)
    found = judged(a, b)
    assert found == judged(b, a)
    return None if found is None else (found.verdict, "older" if found.keep is a else "newer")


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("Deploys happen on Tuesday.", "deploys happen on  Tuesday", ("duplicate", "older")),
        ("Deploys happen on Tuesday.", "The deploys happen on a Tuesday.", ("duplicate", "newer")),
        ("Deploys happen on Tuesday afternoon.", "Deploys happen on Tuesday.", ("duplicate", "older")),
        ("Deploys happen on Tuesday.", "Deploys happen on Tuesday afternoon.", ("duplicate", "newer")),
        ("배포는 화요일에 한다.", "배포는 화요일에 한다", ("duplicate", "older")),
        ("The API port is 8080.", "The API port is 9090.", ("conflict", "newer")),
        ("The database is PostgreSQL.", "The database is MySQL.", ("conflict", "newer")),
        ("Deploys happen on Friday.", "Deploys do not happen on Friday.", ("conflict", "newer")),
        ("배포는 금요일에 한다.", "배포는 금요일에 하지 않는다.", ("conflict", "newer")),
        ("The port of the API is 8080.", "The port of the worker is 9090.", None),
        ("Ada calls Bert.", "Bert calls Ada.", None),
        ("Deploys happen on Tuesday.", "Releases are signed.", None),
        ("parse_block in src/app.py drops lines.", "parse_block drops lines.", ("duplicate", "older")),
        ("parse_block in src/app.py drops lines.", "parse_block in src/web.py drops lines.", None),
    ],
)
def test_what_the_words_alone_show(older: str, newer: str, expected: tuple[str, str] | None) -> None:
    assert told(older, newer) == expected


def test_kinds_are_compared_with_their_own_unless_the_words_are_the_same() -> None:
    assert told("The API port is 8080.", "The API port is 9090.", kind="code") is None
    assert told("The API port is 8080.", "the API port is 8080", kind="code") == ("duplicate", "older")


@pytest.mark.parametrize("better", [{"trust": "user"}, {"verification": "verified"}, {"pinned": True}])
def test_of_two_equals_the_one_with_better_standing_stays(better: dict[str, Any]) -> None:
    assert told("Deploys happen on Tuesday.", "deploys happen on Tuesday", **better) == ("duplicate", "newer")


@pytest.mark.parametrize(
    ("drop", "keep", "expected"),
    [
        ("Deploys happen on Tuesday.", "We deploy every Tuesday.", set()),
        ("Deploys happen at 14:00 with make_release.", "Deploys happen with care.", {"14:00", "make_release"}),
        ("Deploys never happen on Friday.", "Deploys happen on Friday.", {"not"}),
        ("The port is 8080.", "The ports are 8080 and 9090.", set()),
    ],
)
def test_names_numbers_and_negations_that_would_go_are_told(drop: str, keep: str, expected: set[str]) -> None:
    assert lost(memory(drop, "1"), memory(keep, "2")) == expected


@pytest.mark.parametrize(
    ("text", "by", "expected"),
    [
        ("Deploys happen only on Tuesday.", "Deploys happen on Tuesday only.", True),
        ("Deploys happen on Tuesday.", "Deploys happen on Tuesday afternoon only.", True),
        ("Deploys happen on Tuesday afternoon.", "Deploys happen on Tuesday.", False),
        ("Deploys happen on Tuesday.", "Deploys do not happen on Tuesday.", False),
    ],
)
def test_what_another_statement_says_already(text: str, by: str, expected: bool) -> None:
    assert covered(text, by) is expected


TOKENS = ("deploys", "happen", "not", "on", "Tuesday", "8080", "9090", "parse_block", "배포", "안", "never", "the")
WORDS = st.lists(st.sampled_from(TOKENS), max_size=8)
