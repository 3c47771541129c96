"""Turns of a session: what stands beside an answer helps to find it."""

from __future__ import annotations

import pytest

from tests.services.conftest import House

TALK = (
    "Ada: Where do we keep the signing certificates for the mobile app?",
    "Bob: In the third drawer, the blue folder.",
    "Ada: Thanks, and lunch?",
    "Bob: Noodles at one.",
)
OTHERS = (
    "Bob: In the third drawer, the red folder.",
    "Releases go out on Tuesdays.",
    "The logo is blue.",
    "CI runs on every push.",
    "Invoices are sent monthly.",
    "The mascot is a heron.",
    "Docs live in the wiki.",
)
ASKED = "where are the signing certificates of the mobile app kept"


def test_the_turn_beside_the_one_that_names_the_matter_is_found(knowing_house: House) -> None:
    for text in OTHERS:
        knowing_house.stored(text, session="tuesday")
    question, answer, *_ = [knowing_house.stored(text, session="monday") for text in TALK]
    claims = knowing_house.recall(ASKED, include=("explain",)).claims
    assert [claim.ref for claim in claims][:2] == [question, answer]
    assert claims[1].explain is not None
    assert claims[1].explain["context"] > 0


def test_without_a_session_nothing_stands_beside(knowing_house: House) -> None:
    for text in OTHERS:
        knowing_house.stored(text)
    question, *_ = [knowing_house.stored(text) for text in TALK]
    claims = knowing_house.recall(ASKED, include=("explain",)).claims
    assert claims[0].ref == question
    assert all("context" not in (claim.explain or {}) for claim in claims)


@pytest.mark.parametrize("query", ["xxxxxxxxxxxx", "zqjw vkpf", "ㅋㅋㅋㅋㅋㅋ"])
def test_gibberish_stays_without_an_answer_in_a_session(knowing_house: House, query: str) -> None:
    """B023."""
    for text in (*TALK, *OTHERS):
        knowing_house.stored(text, session="monday")
    assert knowing_house.refs(query) == []


def test_a_neighbour_in_another_project_stays_out_of_sight(knowing_house: House) -> None:
    """C-28."""
    for text in OTHERS:
        knowing_house.stored(text, session="tuesday")
    question = knowing_house.stored(TALK[0], session="monday", project="team-alpha")
    hidden = knowing_house.stored(TALK[1], session="monday", project="team-beta")
    found = knowing_house.refs(ASKED, project="team-alpha")
    assert found[0] == question
    assert hidden not in found
