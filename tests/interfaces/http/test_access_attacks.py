"""Two people and their keys at one server, each trying to see what is the other's (C-37, C-38, C-43, C-44)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dolmen.domain.values import SECOND, Actor
from dolmen.interfaces.mcp.dispatch import call
from dolmen.interfaces.mcp.registry import face, faces
from dolmen.services import accounts, groups, people, vaults
from dolmen.services.keycache import KEPT_FOR
from dolmen.services.notes.creating import create_note
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.services.requests.notes import NewNote
from tests.interfaces.conftest import Serve, Served, within

SECRET = "Marzipan"
PROJECT = "github.com/acme/hush"


class Town:
    """A server with Ann, who owns a vault, Bob, a member of it, and Eve, who owns another one."""

    def __init__(self, served: Served) -> None:
        self.served = served
        rt = self.rt = served.rt
        self.ann = accounts.local_actor(rt, agent="cli", human=True)
        member, _ = people.invite(rt, self.ann, "Bob")
        self.bob = Actor(self.ann.vault, member.id, "web", "admin", "web", human=True)
        made = vaults.add_vault(rt, self.ann, "Elsewhere")
        self.eve = replace(self.ann, vault=made.id)
        self.refs = [self._say(self.bob, visibility="private"), self._say(self.eve)]
        self.notes = [self._note(self.bob, "visibility: private"), self._note(self.eve, "a: b")]
        groups.add_group(rt, self.ann, "pair")
        _, apart = accounts.create_key(rt, self.ann, agent="apart", apart=True)
        _, pair = accounts.create_key(rt, self.ann, agent="pair", groups=["pair"])
        self.refs.append(self._say(accounts.authenticate(rt, pair)))
        self.attackers = {
            "a key of the owner": accounts.create_key(rt, self.ann, agent="codex")[1],
            "a key that is kept apart": apart,
        }
        self.everything = [*self.refs, self.notes[0]]

    def _say(self, actor: Actor, **more: Any) -> str:
        [done] = remember(
            self.rt, actor, [NewMemory(f"{SECRET} of {actor.agent}: `brew` in hidden.py", project=PROJECT, **more)]
        )
        assert done.ref is not None
        return done.ref

    def _note(self, actor: Actor, front: str) -> str:
        text = f"---\n{front}\n---\n# Hidden plan {actor.agent}\n\nThe {SECRET} is blue.\n"
        return create_note(self.rt, actor, NewNote(text, project=PROJECT)).ref

    def told(self, key: str, toolset: str, tool: str, args: dict[str, Any]) -> str:
        """The answer of a tool to whoever has the key, without the way over HTTP."""
        actor = accounts.authenticate(self.rt, key)
        answer = call(self.rt, actor, face(toolset), tool, args)
        assert answer is not None
        return answer.text

    def ask(self, key: str, toolset: str, tool: str, args: dict[str, Any]) -> tuple[int, str]:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": args}}
        answer = self.served.post(body, f"/mcp/{toolset}", authorization=f"Bearer {key}")
        return answer.status_code, answer.text


@pytest.fixture(params=["sqlite", "postgres"])
def town(serve: Serve, request: pytest.FixtureRequest) -> Town:
    return Town(serve(engine=request.param))


def _arguments(schema: dict[str, Any], ref: str) -> Iterator[dict[str, Any]]:
    """Calls of a tool that name the ref wherever a text can, or ask for the secret's surroundings."""
    properties, needed = schema["properties"], schema.get("required", [])

    def value(name: str, spec: dict[str, Any]) -> Any:
        if "enum" in spec:
            return spec["enum"][0]
        kind = spec.get("type", "string")
        if kind == "array":
            item = spec.get("items", {})
            return [value(name, item)] if item.get("type") != "object" else [dict.fromkeys(item["properties"], ref)]
        return {"integer": 1, "number": 1, "boolean": True, "object": {}}.get(kind, ref)

    yield {name: value(name, properties[name]) for name in needed}
    for name, spec in properties.items():
        base = {each: value(each, properties[each]) for each in needed}
        choices = spec.get("enum", [value(name, spec)])
        for choice in choices:
            yield base | {name: choice}
            yield base | {name: choice, "project": PROJECT} if "project" in properties else base


def _state(town: Town) -> str:
    with town.rt.store.read() as tx:
        rows = []
        for vault in (town.ann.vault, town.eve.vault):
            rows += [m for m in tx.memories.stream(vault) if m.id in town.refs or m.note]
            rows += [n for n in tx.notes.stream(vault) if SECRET in n.source]
        return repr([row for row in rows if "of " in repr(row) or "Hidden" in repr(row)])


@pytest.mark.slow
def test_no_operation_of_any_toolset_reads_or_changes_what_is_not_its_callers(town: Town) -> None:
    mine = _state(town)
    for key in town.attackers.values():
        for toolset, shown in faces("").items():
            for tool in shown.tools:
                for ref in town.everything:
                    for args in _arguments(dict(tool.schema), ref):
                        text = town.told(key, toolset, tool.name, args)
                        assert SECRET not in text, (toolset, tool.name, args)
                        assert "Hidden plan" not in text, (toolset, tool.name, args)
                        if ref in town.refs and tool.name not in KEEPERS:
                            asked = json.loads(json.dumps(args).replace(ref, str(uuid4())))
                            other = town.told(key, toolset, tool.name, asked)
                            assert _shape(text) == _shape(other), (toolset, tool.name, args, text, other)
    assert _state(town) == mine


KEEPERS = ("remember", "handoff", "reflect", "feedback")
"""They keep the words that they are given, so that the second call meets what the first one wrote."""


def _shape(text: str) -> str:
    """How a call was refused, but for ids and numbers in the words; what was not refused is told apart by nothing."""
    return _CHANGING.sub("…", json.dumps(json.loads(text).get("error", "ok")))


_CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|sha256:\w+|\b[0-9a-f]{16,64}\b|blk_\w+|\d[\d.:TZ-]*")


def test_rest_and_metrics_tell_nothing_of_others(town: Town) -> None:
    for key in town.attackers.values():
        headers = {"authorization": f"Bearer {key}"}
        for path in (f"/api/v1/refs?project={PROJECT}", "/quick", "/quick/recall?query=blue", "/health", "/metrics"):
            answer = town.served.http.get(town.served.base + path, headers=headers)
            assert answer.status_code == 200, (path, answer.text)
            assert SECRET not in answer.text
            assert "hidden.py" not in answer.text


def test_a_member_who_is_removed_is_refused_at_the_next_request(town: Town) -> None:
    _, secret = accounts.create_key(town.rt, town.bob, agent="bobs")
    status, _ = town.ask(secret, "core", "recall", {"query": "anything"})
    assert status == 200
    people.remove(town.rt, town.ann, town.bob.person)
    status, text = town.ask(secret, "core", "recall", {"query": "anything"})
    assert (status, "unauthorized" in text) == (401, True)


def test_a_preset_in_the_header_hides_and_refuses_tools(town: Town) -> None:
    key = town.attackers["a key of the owner"]
    headers = {"authorization": f"Bearer {key}", "x-memento-mode": "recall-only"}
    listed = town.served.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **headers).text
    assert "context" in listed
    assert '"remember"' not in listed
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": {}}}
    assert "recall-only" in town.served.post(body, **headers).text
    wrong = town.served.post(body, **(headers | {"x-memento-mode": "everything"}))
    assert wrong.status_code == 400


@pytest.mark.slow
def test_another_server_on_the_same_store_refuses_a_removed_member_within_moments(serve: Serve, tmp_path: Path) -> None:
    # C-44: at once where the member is removed, within the time that an answer is remembered everywhere else.
    database = f"sqlite:///{tmp_path / 'shared.db'}"
    here, there = serve(database=database), serve(database=database)
    owner = here.owner()
    member, _ = people.invite(here.rt, owner, "Bob")
    bob = Actor(owner.vault, member.id, "web", "admin", "web", human=True)
    _, secret = accounts.create_key(here.rt, bob, agent="bobs")
    headers = {"authorization": f"Bearer {secret}"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert [server.post(body, **headers).status_code for server in (here, there)] == [200, 200]
    people.remove(here.rt, owner, member.id)
    assert here.post(body, **headers).status_code == 401
    bound = KEPT_FOR / SECOND + 1
    assert within(bound, lambda: there.post(body, **headers).status_code == 401)


def test_who_may_see_what_is_private_is_told_that_it_is(serve: Serve) -> None:
    served = serve()
    headers = {"authorization": f"Bearer {served.key('codex', private=True)}"}
    done = served.call("remember", headers=headers, memories=[{"content": "Kept to myself"}])
    shown = served.call("read", headers=headers, ref=done["results"][0]["ref"])
    assert shown["visibility"] == "private"
