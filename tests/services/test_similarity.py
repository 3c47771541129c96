"""What remember shows as similar (C-111) is what comparing with every memory would show."""

from __future__ import annotations

import random

import pytest

from dolmen.domain.text import trigram_similarity
from tests.services.conftest import House

STATEMENTS = (
    "Deploys run on Tuesdays and Thursdays, never on a Friday afternoon, after the smoke tests are green.",
    "The retry limit of the payment worker is five attempts with exponential backoff up to thirty seconds.",
    "parse_config() in src/settings.py ignores unknown keys; call load_settings() to have them refused.",
    "배포는 화요일과 목요일에만 하고, 점검이 끝난 뒤에 결제 작업자를 다시 켠다.",
    "운영 환경에서는 RETRY_LIMIT를 30으로 두고, 개발 환경에서는 끈다.",
    "Use PostgreSQL 16.",
)


def changed(text: str, words: int, chance: random.Random) -> str:
    """The text with so many of its words replaced or cut short."""
    parts = text.split(" ")
    for place in chance.sample(range(len(parts)), min(words, len(parts))):
        parts[place] = chance.choice((parts[place][:-1] or "x", "other", "다른", parts[place] + "s", "42"))
    return " ".join(parts)


@pytest.mark.parametrize("words", [1, 2, 4])
def test_a_near_copy_is_shown_as_if_every_memory_had_been_compared(house: House, words: int) -> None:
    stored = {house.stored(text): text for text in STATEMENTS}
    chance = random.Random(words)
    for text in STATEMENTS:
        copy = changed(text, words, chance)
        shown = house.remember(copy)
        expected = {ref for ref, other in stored.items() if trigram_similarity(copy, other) >= 0.5}
        assert {one.ref for one in shown.similar} == expected, copy
        if shown.ref:
            stored[shown.ref] = copy


def test_a_short_near_copy_of_a_long_memory_is_not_called_similar_but_a_long_one_is(house: House) -> None:
    long = " ".join(f"{text} Part {n}." for n, text in enumerate(STATEMENTS * 4))
    ref = house.stored(long)
    assert [one.ref for one in house.remember(long.replace("Thursdays", "Mondays")).similar] == [ref]
    assert house.remember(STATEMENTS[0]).similar == ()


def test_the_first_memories_of_a_store_are_not_called_similar_to_each_other(knowing_house: House) -> None:
    """C-111, also where too few texts tell what cosine unrelated ones have: this model gives them 0.8."""
    house = knowing_house
    unrelated = (
        "Deploys happen on Tuesday afternoons.",
        "Money is stored in integer cents.",
        "The team uses pytest for tests.",
        "배포 문서는 위키에 있다.",
        "Postgres 18 is the production database.",
    )
    refs = {}
    for text in unrelated:
        shown = house.remember(text)
        assert shown.similar == (), text
        refs[text] = shown.ref
    first = house.remember("Deployments take place each Tuesday in the afternoon.")
    assert [one.ref for one in first.similar] == [refs[unrelated[0]]]


def test_the_second_memory_of_a_store_is_compared_with_the_first(knowing_house: House) -> None:
    first = knowing_house.stored("Deploys happen on Tuesday afternoons.")
    again = knowing_house.remember("Deployments take place each Tuesday in the afternoon.")
    assert [one.ref for one in again.similar] == [first]
