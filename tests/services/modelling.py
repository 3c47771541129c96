"""A house whose chat model is a real local server that says what the test wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dolmen.models.chat import ChatEndpoint, HttpChat
from dolmen.services import extraction
from dolmen.services.jobs import Worked, work
from dolmen.services.runtime import Runtime
from tests.models.chatting import ChatServer
from tests.services.conftest import House


@contextmanager
def modelled(house: House, server: ChatServer, *, timeout: float = 5.0, **options: Any) -> Iterator[House]:
    """The house with a chat model at the server."""
    chat = HttpChat(ChatEndpoint(server.url, "tester", timeout=timeout))
    given = replace(house.rt.options, chat_timeout=timeout, extract_after=0, **options)
    try:
        yield replace(house, rt=replace(house.rt, chat=chat, options=given))
    finally:
        chat.close()


def read_sessions(rt: Runtime, **how: Any) -> Worked:
    """Schedules and reads what is due."""
    extraction.schedule(rt)
    return work(rt, {extraction.KIND: extraction.extract}, **how)


def statement(text: str, evidence: str, category: str = "decision", basis: str = "stated") -> dict[str, str]:
    return {"text": text, "category": category, "basis": basis, "evidence": evidence}
