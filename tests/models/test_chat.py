"""The chat endpoint against a real server that answers well and badly (C-272)."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dolmen.app import choose_chat
from dolmen.models.chat import ChatEndpoint, ChatUnavailable, HttpChat, Question, Unanswered
from dolmen.settings import Settings
from tests.models.chatting import ChatServer

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["fact", "rule"]}},
    "required": ["kind"],
    "additionalProperties": False,
}
QUESTION = Question("Name the kind.", "Deploys happen on Tuesday.", "kind", SCHEMA)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer({"kind": "fact"}) as server:
        yield server


@pytest.fixture
def chat(server: ChatServer) -> Iterator[HttpChat]:
    chat = HttpChat(ChatEndpoint(server.url, "m", "secret", timeout=5))
    yield chat
    chat.close()


def test_a_question_gets_its_answer_and_what_others_wrote_is_not_among_the_rules(
    chat: HttpChat, server: ChatServer
) -> None:
    assert chat.ask(QUESTION) == {"kind": "fact"}
    [(headers, body)] = server.requests
    assert headers["Authorization"] == "Bearer secret"
    system, user = body["messages"]
    assert (system["role"], user) == ("system", {"role": "user", "content": QUESTION.material})
    assert system["content"].startswith(QUESTION.rules)
    assert QUESTION.material not in system["content"]
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (body["model"], body["temperature"], body["stream"]) == ("m", 0, False)
    assert "secret" not in repr(chat._endpoint)


@pytest.mark.parametrize(
    ("said", "sent"), [({}, {}), ({"chat_reasoning": "none"}, {"reasoning_effort": "none"})], ids=["unset", "none"]
)
def test_how_long_to_think_is_sent_only_when_it_is_set(
    server: ChatServer, said: dict[str, Any], sent: dict[str, str]
) -> None:
    """C-378: from the setting to the body of the request."""
    chat = choose_chat(Settings(chat_url=server.url, chat_model="m", chat_timeout=5, **said))
    assert chat is not None
    chat.ask(QUESTION)
    chat.close()
    [(_, body)] = server.requests
    assert {name: value for name, value in body.items() if "reasoning" in name} == sent


@pytest.mark.parametrize(("taken", "asked"), [(("json_object", ""), 2), (("",), 3)])
def test_an_endpoint_that_refuses_the_form_is_asked_without_it_and_not_again(
    chat: HttpChat, server: ChatServer, taken: tuple[str, ...], asked: int
) -> None:
    server.forms = taken
    assert chat.ask(QUESTION) == {"kind": "fact"}
    assert len(server.requests) == asked
    assert chat.ask(QUESTION) == {"kind": "fact"}
    assert len(server.requests) == asked + 1


@pytest.mark.parametrize(
    "said",
    [
        '```json\n{"kind": "fact"}\n```',
        '<think>A fact, {"kind": "rule"} no.</think>\n{"kind": "fact"}',
        ' {"kind":\n"fact"} ',
    ],
)
def test_a_fence_around_all_of_it_and_a_thought_before_it_are_taken_off(
    chat: HttpChat, server: ChatServer, said: str
) -> None:
    server.says = lambda body: said
    assert chat.ask(QUESTION) == {"kind": "fact"}


@pytest.mark.parametrize(
    "said",
    [
        'Sure! {"kind": "fact"}',
        '{"kind": "fact"',
        '{"kind": "fact"} {"kind": "rule"}',
        '{"kind": "fact", "kind": "rule"}',
        '{"kind": NaN}',
        {"kind": "other"},
        {"kind": "fact", "run": "rm -rf /"},
        ["fact"],
        "[" * 100_000,
        "",
    ],
)
def test_an_answer_of_another_form_is_no_answer_and_the_next_question_is_asked(
    chat: HttpChat, server: ChatServer, said: Any
) -> None:
    server.says = lambda body: said
    with pytest.raises(Unanswered) as refused:
        chat.ask(QUESTION)
    assert refused.value.code == "model-unavailable"
    assert refused.value.message.startswith("The chat model is not available: ")
    assert refused.value.fix
    server.says = lambda body: {"kind": "rule"}
    assert chat.ask(QUESTION) == {"kind": "rule"}


def test_an_answer_that_was_cut_off_is_none(chat: HttpChat, server: ChatServer) -> None:
    server.finish = "length"
    with pytest.raises(Unanswered, match="cut off"):
        chat.ask(QUESTION)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_question_that_is_not_taken_in_any_form_spoils_nothing_for_the_next(
    chat: HttpChat, server: ChatServer, status: int
) -> None:
    server.says = lambda body: status if "too long" in body["messages"][1]["content"] else {"kind": "fact"}
    with pytest.raises(Unanswered, match=str(status)):
        chat.ask(replace(QUESTION, material="far too long"))
    assert chat.ask(QUESTION) == {"kind": "fact"}
    assert server.requests[-1][1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_an_endpoint_that_refuses_is_left_alone_for_a_while(chat: HttpChat, server: ChatServer, status: int) -> None:
    server.says = lambda body: status
    with pytest.raises(ChatUnavailable, match=str(status)) as refused:
        chat.ask(QUESTION)
    assert not isinstance(refused.value, Unanswered)
    with pytest.raises(ChatUnavailable):
        chat.ask(QUESTION)
    assert len(server.requests) == 1


def test_a_silent_endpoint_is_waited_for_as_long_as_the_caller_says_and_once(
    chat: HttpChat, server: ChatServer
) -> None:
    server.silent = True
    began = time.monotonic()
    with pytest.raises(Unanswered, match="in time"):
        chat.ask(QUESTION, timeout=0.2)
    assert time.monotonic() - began < 3
    with pytest.raises(ChatUnavailable) as paused:
        chat.ask(QUESTION)
    assert not isinstance(paused.value, Unanswered)
    assert len(server.requests) == 1


def test_nobody_at_the_address_is_an_outage() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chat = HttpChat(ChatEndpoint(f"http://127.0.0.1:{port}/v1", "m"))
    with pytest.raises(ChatUnavailable) as refused:
        chat.ask(QUESTION)
    assert not isinstance(refused.value, Unanswered)
    chat.close()


def test_a_closed_one_answers_nothing(chat: HttpChat, server: ChatServer) -> None:
    chat.ask(QUESTION)
    chat.close()
    with pytest.raises(ChatUnavailable, match="closed"):
        chat.ask(QUESTION)
    assert len(server.requests) == 1


def test_text_that_no_server_takes_is_sent_readable(chat: HttpChat, server: ChatServer) -> None:
    chat.ask(Question("r", "a\0b\ud800", "kind", SCHEMA))
    assert server.asked == ["a b?"]
    assert json.dumps(server.requests[0][1])
