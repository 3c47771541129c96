"""What happens before the protocol: keys, hosts, origins, sizes, rates, and what the log may hold."""

from __future__ import annotations

import http.client
import json
import logging
import time
from contextlib import closing

import anyio
import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from dolmen.interfaces.http.framing import CleanHeaders
from dolmen.services import accounts
from dolmen.services.accounts import ensure_vault
from dolmen.store.contract import Job
from tests.interfaces.conftest import INITIALIZE, JSON, Serve, Served, rpc

pytestmark = pytest.mark.slow

LIST = rpc("tools/list")


def error(answer: httpx2.Response) -> dict[str, str]:
    found: dict[str, str] = answer.json()["error"]
    assert found["message"]
    assert found["fix"]
    return found


# ----------------------------------------------------------------------------------------------------------------- keys
def test_a_key_opens_the_door_and_names_the_agent(serve: Serve) -> None:
    served = serve(auth="keys")
    bearer = {"authorization": f"Bearer {served.key('codex')}"}
    served.call("remember", headers=bearer, memories=[{"content": "Written with a key."}])
    assert served.call("recall", headers=bearer, query="written with a key")["claims"][0]["agent"] == "codex"


def test_a_keys_own_name_stands_whatever_the_client_says(serve: Serve) -> None:
    served = serve(auth="keys")
    headers = {"authorization": f"Bearer {served.key('codex')}", "dolmen-agent": "owner"}
    served.call("remember", headers=headers, memories=[{"content": "Written with a key."}])
    assert served.call("recall", headers=headers, query="written with a key")["claims"][0]["agent"] == "codex"


@pytest.mark.parametrize(
    "credential",
    [
        None,
        "Bearer",
        "Basic dXNlcjpwYXNz",
        "Bearer dlm_" + "x" * 43,
        "Bearer nonsense",
        "dlm_" + "x" * 43,
    ],
)
def test_without_a_valid_key_nobody_comes_in(serve: Serve, credential: str | None) -> None:
    """B196: a missing header is answered 401; the server has no token of its own to fall back to."""
    served = serve(auth="keys")
    headers = {} if credential is None else {"authorization": credential}
    answer = served.post(LIST, **headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert error(answer)["code"] == "unauthorized"
    assert "dolmen key create" in error(answer)["fix"]


def test_a_revoked_key_is_refused_at_the_next_request(serve: Serve) -> None:
    served = serve(auth="keys")
    key = served.key("codex")
    assert served.post(LIST, authorization=f"Bearer {key}").status_code == 200
    [connection] = accounts.keys(served.rt, served.owner())
    accounts.revoke(served.rt, served.owner(), connection.id)
    assert served.post(LIST, authorization=f"Bearer {key}").status_code == 401


def test_making_a_key_locks_nobody_on_this_machine_out(served: Served) -> None:
    """The key of one agent is accepted besides; who came in without one still does."""
    key = served.key("codex")
    assert served.post(LIST).status_code == 200
    bearer = {"authorization": f"Bearer {key}"}
    served.call("remember", headers=bearer, memories=[{"content": "Written with a key."}])
    assert served.call("recall", query="written with a key")["claims"][0]["agent"] == "codex"


def test_where_every_client_needs_a_key_the_refusal_says_so_and_what_to_do(serve: Serve) -> None:
    answer = error(serve(auth="keys").post(LIST))
    assert "every client" in answer["message"]
    assert "dolmen key create AGENT" in answer["fix"]


def test_a_wrong_key_is_refused_even_where_none_is_needed(served: Served) -> None:
    """B196: never a silent fall-back to somebody else's rights."""
    assert served.post(LIST, authorization="Bearer dlm_" + "x" * 43).status_code == 401


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host", "x-forwarded-proto", "via"]
)
def test_what_comes_through_a_proxy_is_not_this_machines_own(served: Served, header: str) -> None:
    """A proxy on this machine would open the memory to everybody that reaches the proxy."""
    assert served.post(LIST, **{header: "203.0.113.9"}).status_code == 401


def test_under_another_name_a_key_is_needed(serve: Serve) -> None:
    served = serve(allowed_hosts=("memory.example.com",))
    assert served.post(LIST).status_code == 200
    assert served.post(LIST, host="memory.example.com").status_code == 401


def test_with_a_public_url_everybody_needs_a_key(serve: Serve) -> None:
    """A proxy that names itself in no header would pass for this machine's own programs."""
    served = serve(public_url="https://memory.example.com")
    assert served.post(LIST).status_code == 401
    assert served.post(LIST, host="memory.example.com").status_code == 401
    assert served.post(LIST, authorization=f"Bearer {served.key()}").status_code == 200


@pytest.mark.parametrize(("mode", "code"), [("read", "read-only"), ("suggest", ""), ("write", ""), ("admin", "")])
def test_a_read_only_key_sees_every_tool_and_is_told_why_it_may_not_write(serve: Serve, mode: str, code: str) -> None:
    served = serve(auth="keys")
    bearer = {"authorization": f"Bearer {served.key('codex', mode=mode)}"}
    listed = served.post(LIST, **bearer).json()["result"]["tools"]
    assert "remember" in [tool["name"] for tool in listed]
    answer = served.call("remember", headers=bearer, memories=[{"content": "May I?"}])
    assert answer.get("error", {}).get("code", "") == code
    assert served.call("recall", headers=bearer, query="anything")["claims"] is not None


def test_a_read_only_server_lets_nobody_write(serve: Serve) -> None:
    served = serve(read_only=True)
    bearer = {"authorization": f"Bearer {served.key('codex', mode='admin')}"}
    for tool, args in (
        ("remember", {"memories": [{"content": "x"}]}),
        ("edit", {"ref": "a", "op": "amend", "content": "x"}),
        ("forget", {"ref": "a"}),
        ("link", {"from": "a", "rel_type": "r", "to": "b"}),
        ("verify", {"refs": ["a"], "state": "verified"}),
        ("handoff", {"summary": "x"}),
        ("resume", {}),
        ("reflect", {"summary": "x"}),
    ):
        answer = served.call(tool, headers=bearer, **args)
        assert answer["error"]["code"] == "read-only", tool
    assert "claims" in served.call("recall", headers=bearer, query="x")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/openai", "/mcp/openai/"])
def test_a_keys_toolset_is_what_it_sees_at_the_plain_endpoint(serve: Serve, path: str) -> None:
    served = serve(auth="keys")
    bearer = {"authorization": f"Bearer {served.key('chatgpt', toolset='openai')}"}
    assert [tool["name"] for tool in served.post(LIST, path, **bearer).json()["result"]["tools"]] == ["search", "fetch"]


def test_a_key_for_a_smaller_toolset_reaches_no_other(served: Served) -> None:
    """Not even where programs come in without a key; there the path is a choice, and the setting a default."""
    bearer = {"authorization": f"Bearer {served.key('chatgpt', toolset='openai')}"}
    answer = served.post(LIST, "/mcp/core", **bearer)
    assert answer.status_code == 403
    assert error(answer)["code"] == "forbidden"
    assert "/mcp/openai" in error(answer)["fix"]
    assert served.post(LIST, "/mcp/core").status_code == 200


def test_a_key_for_the_full_toolset_reaches_the_smaller_ones(serve: Serve) -> None:
    served = serve(auth="keys")
    bearer = {"authorization": f"Bearer {served.key('codex')}"}
    assert len(served.post(LIST, "/mcp/core", **bearer).json()["result"]["tools"]) == 13
    assert len(served.post(LIST, "/mcp/openai", **bearer).json()["result"]["tools"]) == 2


# -------------------------------------------------------------------------------------------------------------- project
def test_without_a_project_the_answer_says_so(served: Served) -> None:
    """B129: never the server's own working directory."""
    stored = served.call("remember", memories=[{"content": "Said without a project."}])
    assert stored["results"][0]["scope"] == "user"
    assert any("No project was named" in note for note in served.call("recall", query="said")["notes"])
    assert served.call("context")["scope"] == "user"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/mcp", {"dolmen-project": "git@github.com:acme/heron.git"}),
        ("/mcp?project=https%3A%2F%2Fgithub.com%2Facme%2Fheron", {}),
    ],
)
def test_a_client_names_its_project_in_a_header_or_in_the_address(
    served: Served, path: str, headers: dict[str, str]
) -> None:
    """B129."""
    stored = served.call("remember", path, headers, memories=[{"content": "Said in a project."}])
    assert stored["results"][0]["scope"] == "project:github.com/acme/heron"
    answer = served.call("recall", path, headers, query="said in a project")
    assert len(answer["claims"]) == 1
    assert "notes" not in answer


def test_an_argument_names_another_project_than_the_header(served: Served) -> None:
    """B132: stored under the project that was named."""
    header = {"dolmen-project": "acme/heron"}
    stored = served.call("remember", headers=header, memories=[{"content": "Elsewhere.", "project": "acme/egret"}])
    assert stored["results"][0]["scope"] == "project:acme/egret"
    assert served.call("recall", query="elsewhere", project="acme/egret")["claims"]
    assert not served.call("recall", headers=header, query="elsewhere")["claims"]


def test_a_project_that_is_none_is_refused_at_the_door(served: Served) -> None:
    answer = served.post(LIST, **{"dolmen-project": "/home/me/repo"})
    assert answer.status_code == 400
    assert error(answer)["code"] == "invalid-project"


# ---------------------------------------------------------------------------------------------------- hosts and origins
def test_a_foreign_host_is_refused_with_the_setting_that_lets_it_in(served: Served) -> None:
    """B083."""
    answer = served.post(LIST, host="memory.example.com")
    assert answer.status_code == 403
    assert "DOLMEN_PUBLIC_URL" in error(answer)["fix"]


def test_a_foreign_page_is_refused(served: Served) -> None:
    answer = served.post(LIST, origin="https://evil.example")
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
    assert "DOLMEN_ALLOWED_ORIGINS" in error(answer)["fix"]


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://localhost:port", "http://", "\\"])
def test_an_origin_that_is_none_is_refused_like_any_other(served: Served, origin: str) -> None:
    assert served.post(LIST, origin=origin).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_foreign_page_cannot_load_an_answer_as_its_own_image(serve: Serve, site: str) -> None:
    """It would learn from the status which notes there are. What it says of itself, browsers alone write."""
    served = serve()
    place = served.base + "/quick"
    image = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert served.http.get(place, headers=image).status_code == 401
    assert "another site" in served.http.get(place, headers=image).text
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    own = image | {"sec-fetch-site": "same-origin"}
    typed = link | {"sec-fetch-site": "none"}
    assert [served.http.get(place, headers=each).status_code for each in (link, own, typed, {})] == [200] * 4
    bearer = {"authorization": f"Bearer {served.key()}"}
    assert served.http.get(place, headers=image | bearer).status_code == 200


def test_another_page_of_this_machine_is_foreign_where_no_key_is_needed(served: Served) -> None:
    """Whatever is developed on this machine, with all its dependencies, runs under http://localhost:<port>."""
    assert served.post(LIST, origin="http://localhost:6274").status_code == 403
    own = served.post(LIST, origin=served.base)
    assert own.status_code == 200
    assert own.headers["access-control-allow-origin"] == served.base


def test_a_page_of_this_machine_that_is_listed_is_let_in(serve: Serve) -> None:
    served = serve(allowed_origins=("http://localhost:6274",))
    assert served.post(LIST, origin="http://localhost:6274").status_code == 200
    assert served.post(LIST, origin="http://localhost:6275").status_code == 403


HEADERS = "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id"


def test_a_preflight_is_answered_before_any_key_is_asked_for(serve: Serve) -> None:
    """B090."""
    served = serve(auth="keys")
    for method in ("POST", "GET", "DELETE"):
        answer = served.http.options(
            served.url,
            headers={
                "origin": "http://localhost:6274",
                "access-control-request-method": method,
                "access-control-request-headers": HEADERS,
            },
        )
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
        assert method in answer.headers["access-control-allow-methods"]
        assert answer.headers["access-control-allow-headers"] == HEADERS


def test_a_page_of_ours_can_read_the_answers_and_the_refusals(serve: Serve) -> None:
    """B090: the headers are exposed on real responses too."""
    served = serve(auth="keys")
    key = served.key()
    for headers, status in (({"authorization": f"Bearer {key}"}, 200), ({}, 401)):
        answer = served.post(INITIALIZE, origin="http://localhost:6274", **headers)
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
        exposed = answer.headers["access-control-expose-headers"].lower()
        assert all(name in exposed for name in ("mcp-session-id", "mcp-protocol-version", "www-authenticate"))


# --------------------------------------------------------------------------------------------------------------- limits
@pytest.mark.parametrize("declared", [True, False])
def test_a_body_beyond_the_limit_is_refused(serve: Serve, declared: bool) -> None:
    served = serve(body_limit=2048)
    body = b" " * 4000

    def parts() -> object:
        yield body

    answer = served.http.post(served.url, content=body if declared else parts(), headers=JSON)  # type: ignore[arg-type]
    assert answer.status_code == 413
    assert error(answer)["code"] == "too-large"
    assert served.post(LIST).status_code == 200


def test_a_client_that_sends_all_before_it_reads_is_told_that_it_is_too_much(served: Served) -> None:
    """C-342: most do, and would see nothing but a broken connection."""
    host, port = served.base.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    with closing(connection):
        connection.request("POST", "/mcp", b" " * 15_000_000, JSON)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == (413, "too-large")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/kmem", "/quick/propose"])
def test_a_client_that_sends_much_that_is_no_json_is_told_so(served: Served, path: str) -> None:
    """C-331: as many clients as for a body that is too large would see nothing but a broken connection."""
    host, port = served.base.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    with closing(connection):
        connection.request("POST", path, b" " * 4_000_000, {**JSON, "content-type": "text/plain"})
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == (415, "invalid-argument")
        connection.request("POST", path, b"x", {**JSON, "content-type": "text/plain"})
        assert connection.getresponse().status == 415, "the connection still serves"


def test_a_client_that_asks_before_it_sends_is_answered_at_once(served: Served) -> None:
    host, port = served.base.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    with closing(connection):
        connection.request("POST", "/mcp", headers=JSON | {"Content-Length": "5000000", "Expect": "100-continue"})
        assert connection.getresponse().status == 413


def test_the_largest_batch_of_memories_fits(served: Served) -> None:
    answer = served.call("remember", memories=[{"content": f"{n} " + "x" * 7000} for n in range(200)])
    assert [item["outcome"] for item in answer["results"]] == ["stored"] * 200


def test_a_connection_that_asks_too_often_is_told_when_to_come_back(serve: Serve) -> None:
    served = serve(auth="keys", rate_limit=5)
    one, other = served.key("one"), served.key("other")
    answers = [served.post(LIST, authorization=f"Bearer {one}") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert 0 < int(answers[5].headers["retry-after"]) <= 60
    assert error(answers[5])["code"] == "rate-limited"
    assert served.post(LIST, authorization=f"Bearer {other}").status_code == 200


# ----------------------------------------------------------------------------------------------------- wire and routing
def test_spaces_around_a_header_do_not_matter(served: Served) -> None:
    """One HTTP parser leaves them where they are; the protocol's names are compared literally."""
    body = json.dumps(rpc("tools/call", name="browse", arguments={}, _meta=MODERN))
    host, port = served.base.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    headers = {"MCP-Protocol-Version": "2026-07-28 ", "Mcp-Method": "  tools/call", "Mcp-Name": "  browse\t "}
    connection.request("POST", "/mcp", body, {**JSON, **headers})
    assert connection.getresponse().status == 200
    connection.close()


def test_header_values_are_stripped_before_anything_reads_them() -> None:
    seen: list[tuple[bytes, bytes]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend(scope["headers"])

    async def nothing(*_: object) -> None:
        return None

    scope = {"type": "http", "headers": [(b"mcp-name", b" browse\t "), (b"accept", b"a, b")]}
    anyio.run(CleanHeaders(app), scope, nothing, nothing)
    assert seen == [(b"mcp-name", b"browse"), (b"accept", b"a, b")]


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_what_is_not_here_is_said_as_json(served: Served) -> None:
    for path in ("/", "/sse", "/.well-known/oauth-protected-resource", "/mcp/core/more"):
        answer = served.http.get(served.base + path)
        assert answer.status_code == 404
        assert error(answer)["code"] == "not-found"


@pytest.mark.parametrize("body", [b"", b"{", b"null", b'"text"', b'{"jsonrpc":"2.0"}', b"\xff\xfe", b'{"a":' * 5000])
def test_a_broken_body_is_refused_and_nothing_more(served: Served, body: bytes) -> None:
    assert 400 <= served.post(body).status_code < 500
    modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
    assert 400 <= served.post(body, **modern).status_code < 500
    assert served.post(LIST).status_code == 200


def access(caplog: pytest.LogCaptureFixture, lines: int) -> list[str]:
    """The lines of the access log, once there are so many: each is written after its answer has gone out."""
    end = time.monotonic() + 10
    while True:
        found = [record.getMessage() for record in caplog.records if record.name == "dolmen.access"]
        if len(found) >= lines or time.monotonic() > end:
            return found
        time.sleep(0.01)


def test_the_log_says_who_asked_for_what_and_holds_no_credential(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """B196."""
    served = serve(auth="keys")
    key = served.key("codex")
    wrong = "dlm_" + "y" * 43
    with caplog.at_level(logging.DEBUG):
        served.post(rpc("tools/call", name="recall", arguments={"query": "hush"}), authorization=f"Bearer {key}")
        served.post(LIST, authorization=f"Bearer {wrong}")
        served.post(LIST, "/mcp?project=secret-project")
        lines = access(caplog, 3)
    assert lines[0].startswith("POST /mcp 200 ")
    assert " codex@" in lines[0]
    assert lines[1].startswith("POST /mcp 401 ")
    everything = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("dolmen"))
    for hidden in (key, wrong, "hush", "secret-project"):
        assert hidden not in everything


def test_a_path_cannot_forge_a_line_of_the_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "dolmen.access"):
        served.http.get(served.base + "/x%0APOST%20/mcp%20200")
        [line] = access(caplog, 1)
    assert "\n" not in line
    assert line.startswith("GET /x?POST?/mcp?200 404")


# --------------------------------------------------------------------------------------------------- health and metrics
def test_health_says_what_works_and_what_the_tools_cost(served: Served) -> None:
    """B172."""
    answer = served.http.get(served.base + "/health")
    assert answer.status_code == 200
    found = answer.json()
    assert found["status"] == "ok"
    assert found["store"]["engine"] == "sqlite"
    assert found["store"]["schema"] >= 1
    assert found["footprint"]["core"]["list"] <= 1800
    assert {"version", "model", "index"} <= set(found)


def test_health_is_503_with_the_reason_when_the_store_is_gone(served: Served) -> None:
    served.rt.store.close()
    answer = served.http.get(served.base + "/health")
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"
    assert answer.json()["error"]["fix"]


def test_a_stranger_learns_only_that_it_is_up(serve: Serve) -> None:
    served = serve(auth="keys")
    assert served.http.get(served.base + "/health").json() == {"status": "ok"}
    assert served.http.get(served.base + "/metrics").status_code == 401
    bearer = {"authorization": f"Bearer {served.key('prometheus', mode='read')}"}
    assert served.http.get(served.base + "/health", headers=bearer).json()["store"]
    assert served.http.get(served.base + "/metrics", headers=bearer).status_code == 200


def test_metrics_count_calls_by_outcome(served: Served) -> None:
    served.call("recall", query="x")
    served.call("recall", query="x", limit=0)
    served.post(LIST, "/some/where/else")
    text = served.http.get(served.base + "/metrics").text
    assert 'dolmen_tool_calls_total{outcome="ok",tool="recall",toolset="core"} 1.0' in text
    assert 'dolmen_tool_calls_total{outcome="invalid-argument",tool="recall",toolset="core"} 1.0' in text
    assert 'dolmen_http_requests_total{method="POST",path="/mcp",status="200"} 2.0' in text
    assert 'dolmen_http_requests_total{method="POST",path="other",status="404"} 1.0' in text
    assert "dolmen_store_up 1.0" in text
    assert 'dolmen_tool_seconds_count{tool="recall",toolset="core"} 2.0' in text


# ---------------------------------------------------------------------------------------------------------------- audit
def test_every_successful_call_leaves_one_audit_row(serve: Serve) -> None:
    served = serve(auth="keys")
    bearer = {"authorization": f"Bearer {served.key('codex')}"}
    served.call("remember", headers=bearer, memories=[{"content": "Audited."}])
    served.call("recall", headers=bearer, query="audited")
    served.call("recall", headers=bearer, query="audited", limit=0)
    served.rt.journal.flush()
    vault = served.owner().vault
    with served.rt.store.read() as tx:
        rows = [(row.op, row.agent) for row in tx.journal.audited(vault) if row.op != "key:create"]
    assert sorted(rows) == [("recall", "codex"), ("remember", "codex")]


def test_health_tells_the_model_and_how_much_it_has_read(serve: Serve) -> None:
    served = serve(embedder="auto")
    served.call("remember", memories=[{"content": "To be found by meaning."}])
    found = served.http.get(served.base + "/health").json()
    assert found["status"] == "ok"
    assert found["model"]["dim"] > 0
    assert found["index"]["passages"] == 1
    assert "dolmen_index_passages 1.0" in served.http.get(served.base + "/metrics").text


def test_background_work_is_counted_by_kind_and_state(serve: Serve) -> None:
    served = serve()
    vault = ensure_vault(served.rt)
    with served.rt.store.write() as tx:
        for n in range(2):
            tx.jobs.enqueue(Job(tx.new_id(), vault, "extract", str(n), due_at=tx.now, created_at=tx.now))
        taken = tx.jobs.lease(("extract",), "x", tx.now, tx.now + 1)
        assert taken is not None
        tx.jobs.bury(taken, tx.now, "no JSON")
    text = served.http.get(served.base + "/metrics").text
    assert 'dolmen_jobs{kind="extract",state="dead"} 1.0' in text
    assert 'dolmen_jobs{kind="extract",state="waiting"} 1.0' in text
    assert served.http.get(served.base + "/health").json()["jobs"] == {"extract": {"dead": 1, "waiting": 1}}
