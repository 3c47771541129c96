"""What may be said about an answer, and by whom."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor
from dolmen.services.feedback import feedback
from dolmen.services.requests import FeedbackRequest
from tests.services.conftest import House


def asked(house: House, actor: Actor) -> FeedbackRequest:
    house.stored("the heron fishes at dawn")
    return FeedbackRequest(event=house.recall("heron", actor).event, relevant=True)


def test_whoever_asked_and_whoever_keeps_the_house_judge_an_answer(house: House) -> None:
    said = asked(house, house.agent)
    assert feedback(house.rt, house.agent, said)
    assert feedback(house.rt, house.owner, said)
    assert feedback(house.rt, house.actor(connection="key-3", mode="admin"), said)


def test_the_question_of_another_connection_is_as_unknown_as_one_that_nobody_asked(house: House) -> None:
    said = asked(house, house.agent)
    unknown = FeedbackRequest(event="0199a3c2-7b1e-7c55-9d7e-0123456789ab", relevant=True)
    stranger = house.actor(connection="key-2")
    refusals = []
    for request in (said, unknown):
        with pytest.raises(DolmenError) as refused:
            feedback(house.rt, stranger, request)
        refusals.append((refused.value.code, refused.value.message.replace(request.event or "", "…")))
    assert refusals[0] == refusals[1]
    assert refusals[0][0] == "not-found"
