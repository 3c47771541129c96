"""Quick Connect: the door for agents that cannot speak MCP (C-332), behind the rules of /mcp."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from dolmen.domain.values import Bounds
from dolmen.interfaces.mcp.toolsets.kmem.attached import brief
from dolmen.services import review
from dolmen.services.notes.creating import create_note
from dolmen.services.policy import set_policy
from dolmen.services.requests.notes import NewNote
from tests.interfaces.conftest import Serve, Served

RULES = "---\ntype: convention\nbriefing: true\n---\n# Rules\n\n- Use snake_case.\n"
PROPOSE = "/quick/propose"
NOTE = {"content": "We chose session cookies over JWT.", "kind": "decision", "title": "Auth"}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def get(served: Served, path: str, key: str = "") -> httpx2.Response:
    return served.http.get(served.base + path, headers=bearer(key) if key else {})


def propose(served: Served, body: Any, key: str = "", **headers: str) -> httpx2.Response:
    return served.post(body, PROPOSE, **({**headers, **bearer(key)} if key else headers))


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_an_agent_that_has_only_the_page_recalls_reads_and_proposes(serve: Serve, engine: str) -> None:
    """C-332: every address on the page works as it stands there."""
    served = serve(engine, auth="keys")
    key = served.key("grok", toolset="kmem")
    text = get(served, "/quick", key).text
    recall, read = (re.search(rf"`GET (http[^`]*/quick/{name})\?", text)[1] for name in ("recall", "read"))  # type: ignore[index]
    post = re.search(r"`POST (http[^`]*)`", text)[1]  # type: ignore[index]
    assert {recall, read, post} == {f"{served.base}/quick/{name}" for name in ("recall", "read", "propose")}

    queued = served.http.post(post, json=NOTE, headers=bearer(key)).json()
    assert (queued["outcome"], queued["agent_writes"]) == ("queued", "on")
    assert queued["because"]
    none = served.http.get(recall, params={"query": "session cookies"}, headers=bearer(key)).json()
    assert none["claims"] == []
    assert none["gaps"]
    review.apply(served.rt, served.owner(), queued["proposal"].removeprefix("prop_"))

    found = {"query": "which session cookies?", "budget_tokens": "500", "types": "decision,convention"}
    pack = served.http.get(recall, params=found, headers=bearer(key)).json()
    [claim] = pack["claims"]
    assert claim["text"] == NOTE["content"]
    assert pack["budget"]["requested"] == 500
    block = served.http.get(read, params={"ref": claim["ref"]}, headers=bearer(key)).json()
    assert block["text"] == NOTE["content"]
    note = served.http.get(f"{read}?ref={quote(claim['ref'].partition('#')[0])}", headers=bearer(key)).json()
    assert note["markdown"].endswith(NOTE["content"])

    change = {"ref": note["ref"], "op": "append", "content": "- [note] Keys rotate monthly #ops"}
    waiting = served.http.post(post, json=change, headers=bearer(key)).json()
    assert waiting["outcome"] == "queued"
    back = {"ref": waiting["proposal"], "op": "withdraw"}
    assert served.http.post(post, json=back, headers=bearer(key)).json()["outcome"] == "withdrawn"


def test_the_page_has_the_conventions_of_the_brief(serve: Serve) -> None:
    """C-199: one renderer, so the two cannot disagree; a first day is a normal state."""
    served = serve()
    assert "No conventions are published yet." in get(served, "/quick").text
    create_note(served.rt, served.owner(), NewNote(RULES, permalink="rules"))
    answer = get(served, "/quick")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    ours = answer.text.partition("# Conventions")[2]
    assert "- Use snake_case." in ours
    assert ours == brief(served.rt, served.owner()).partition("# Conventions")[2]


@pytest.mark.parametrize("mode", ["suggest", "write", "admin"])
@pytest.mark.parametrize("policy", ["conflicts", "direct"])
def test_what_is_proposed_waits_whatever_the_connection_may_do(serve: Serve, mode: str, policy: str) -> None:
    """C-139: the name says it."""
    served = serve(auth="keys")
    set_policy(served.rt, served.owner(), "write_policy", policy)
    assert propose(served, NOTE, served.key(mode=mode)).json()["outcome"] == "queued"


def test_a_connection_that_may_only_read_is_told_which_scope_it_lacks(serve: Serve) -> None:
    """C-313."""
    served = serve(auth="keys", public_url="https://memory.example.com")
    key = served.key(mode="read", toolset="kmem")
    host = {"host": "memory.example.com"}
    assert served.http.get(served.base + "/quick", headers={**host, **bearer(key)}).status_code == 200
    refused = propose(served, NOTE, key, **host)
    assert refused.status_code == 403
    said = refused.headers["www-authenticate"]
    assert 'error="insufficient_scope", scope="suggest"' in said
    assert 'resource_metadata="https://memory.example.com/.well-known/oauth-protected-resource/mcp/kmem"' in said
    assert "new approval" in refused.json()["error"]["fix"]


@pytest.mark.parametrize("path", ["/quick", "/quick/recall?query=x", "/quick/read?ref=x"])
def test_nobody_comes_in_without_a_key_and_all_wrong_ones_are_answered_alike(serve: Serve, path: str) -> None:
    """C-313."""
    served = serve(auth="keys")
    revoked = served.key()
    with served.rt.store.write() as tx:
        [connection] = tx.accounts.connections(served.owner().vault)
        tx.accounts.revoke(served.owner().vault, connection.id, tx.now)
    answers = [get(served, path, key) for key in (revoked, "dlm_" + "x" * 43, "sp_nothing")]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1
    assert get(served, path).status_code == 401
    assert served.http.get(f"{served.base}{path}", headers={"origin": "https://evil.example"}).status_code == 403


def test_a_key_for_another_toolset_reaches_no_notes_here(serve: Serve) -> None:
    served = serve(auth="keys")
    assert get(served, "/quick", served.key(toolset="openai")).status_code == 403
    assert get(served, "/quick", served.key()).status_code == 200


def test_the_limits_are_those_of_the_link(serve: Serve) -> None:
    """C-342: one connection, one count, whichever door it uses."""
    served = serve(auth="keys")
    key = served.key(toolset="kmem", bounds=Bounds(per_minute=3, memories=9))
    first = get(served, "/quick", key)
    assert first.headers["x-ratelimit-remaining"] == "9"
    assert served.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **bearer(key)).status_code == 200
    assert get(served, "/quick/read?ref=x", key).status_code == 404
    refused = get(served, "/quick/recall?query=x", key)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert get(served, "/quick", served.key(toolset="kmem")).status_code == 200


def test_what_cannot_be_meant_is_refused_with_what_to_do(serve: Serve) -> None:
    """C-331, C-335, C-342."""
    served = serve(body_limit=3_000)
    wrong = [
        (get(served, "/quick?token=x"), 400, "invalid-argument"),
        (get(served, "/quick/recall"), 400, "invalid-argument"),
        (get(served, "/quick/recall?query=" + "x" * 2_001), 413, "too-large"),
        (get(served, "/quick/recall?query=x&limit=5"), 400, "invalid-argument"),
        (get(served, "/quick/recall?query=x&query=y"), 400, "invalid-argument"),
        (get(served, "/quick/read?ref=no/such"), 404, "note-not-found"),
        (get(served, PROPOSE), 405, "invalid-argument"),
        (propose(served, {}), 400, "invalid-argument"),
        (propose(served, b"[1]"), 400, "invalid-argument"),
        (propose(served, b"{"), 400, "invalid-argument"),
        (propose(served, {**NOTE, "content": "x" * 3_000}), 413, "too-large"),
        (propose(served, {"ref": "no/such", "op": "append", "content": "x"}), 404, "note-not-found"),
        (propose(served, {**NOTE, "content": "key ghp_0123456789abcdefghij0123456789abcdef"}), 422, "secret-detected"),
        (served.http.post(served.base + PROPOSE, content=b"{}"), 415, "invalid-argument"),
        (served.http.post(served.base + "/quick/recall?query=x"), 405, "invalid-argument"),
        (get(served, "/quick/other"), 404, "not-found"),
    ]
    for answer, status, code in wrong:
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
        assert answer.json()["error"]["fix"]
    assert wrong[6][0].headers["allow"] == "POST"
    assert "/quick" in wrong[-1][0].json()["error"]["fix"], "where the page is"


def test_another_method_is_told_what_to_send_instead(serve: Serve) -> None:
    """C-330: also HEAD, PUT and DELETE; the page says the rest."""
    served = serve()
    for method in ("GET", "PUT", "DELETE"):
        answer = served.http.request(method, served.base + PROPOSE)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        fix = answer.json()["error"]["fix"]
        assert "Content-Type: application/json" in fix
        assert "GET /quick" in fix
    answer = served.http.put(served.base + "/quick/recall?query=x")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert "Use GET" in answer.json()["error"]["fix"]


def test_an_address_with_a_slash_at_its_end_is_the_same_one(serve: Serve) -> None:
    served = serve(auth="keys")
    key = served.key(toolset="kmem")
    assert get(served, "/quick/", key).text == get(served, "/quick", key).text
    assert get(served, "/quick/recall/?query=x", key).json()["claims"] == []
    assert propose(served, NOTE, key).json()["outcome"] == "queued"
    assert get(served, "/quick/").status_code == 401


def test_each_request_that_is_answered_leaves_one_row_and_no_token(serve: Serve) -> None:
    """C-315."""
    served = serve(auth="keys")
    key = served.key(toolset="kmem")
    for path in ("/quick", "/quick/recall?query=x", "/quick/read?ref=no/such"):
        get(served, path, key)
    propose(served, NOTE, key)
    get(served, "/quick", "dlm_" + "x" * 43)
    served.rt.journal.flush()
    with served.rt.store.read() as tx:
        rows = [row for row in tx.journal.audited(served.owner().vault) if row.agent == "codex"]
    assert sorted(row.op for row in rows) == ["kmem:recall", "propose:note_create", "quick:page"]
    assert key not in str(rows)
