"""kmem's door: who is let in, how much they may ask for, and what every refusal says, against a real server."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from dolmen.domain.values import DAY, Bounds
from dolmen.interfaces.mcp import footprint
from dolmen.services.accounts import keys, revoke
from dolmen.services.policy import set_policy
from tests.interfaces.conftest import INITIALIZE, JSON, Serve, Served, rpc

KMEM = "/mcp/kmem"
LIST = rpc("tools/list")
TOKENS = "/api/tokens"


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def error(answer: httpx2.Response) -> dict[str, Any]:
    found: dict[str, Any] = answer.json()["error"]
    assert found["message"]
    assert found["fix"]
    return found


@pytest.fixture
def keyed(serve: Serve) -> Served:
    return serve(auth="keys")


# -------------------------------------------------------------------------------------------------------- who is let in
def test_a_request_without_a_credential_is_challenged(keyed: Served, serve: Serve) -> None:
    """C-313, C-309: on a server where people sign in, the challenge says where, and with which scopes."""
    answer = keyed.post(LIST, KMEM)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="kmem"')
    assert error(answer)["code"] == "unauthorized"
    hosted = serve(public_url="https://memory.example.com")
    said = hosted.post(LIST, KMEM, host="memory.example.com").headers["www-authenticate"]
    where = "https://memory.example.com/.well-known/oauth-protected-resource/mcp/kmem"
    assert said == f'Bearer realm="kmem", resource_metadata="{where}", scope="read suggest write"'


def test_an_unknown_a_revoked_and_a_malformed_connection_are_answered_alike(keyed: Served) -> None:
    """C-313: whoever guesses learns nothing."""
    revoked = keyed.key(toolset="kmem")
    [connection] = keys(keyed.rt, keyed.owner())
    revoke(keyed.rt, keyed.owner(), connection.id)
    answers = [
        keyed.post(LIST, KMEM, **bearer(key)) for key in (revoked, "dlm_" + "x" * 43, "sp_1", "é".encode().hex())
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({(answer.text, answer.headers.get("www-authenticate")) for answer in answers}) == 1


def test_an_expired_connection_is_told_its_date(keyed: Served) -> None:
    """C-313."""
    with keyed.rt.store.read() as tx:
        now = tx.now
    key = keyed.key(toolset="kmem", expires_at=now + 300_000, bounds=Bounds(per_minute=0, per_hour=0))
    while keyed.post(LIST, KMEM, **bearer(key)).status_code == 200:
        pass
    answer = keyed.post(LIST, KMEM, **bearer(key))
    assert answer.status_code == 401
    assert "expired on 20" in error(answer)["message"]


def test_a_connection_ends_when_its_person_is_removed(keyed: Served) -> None:
    """C-44, C-323: with the answer of a revoked one."""
    key = keyed.key(toolset="kmem")
    assert keyed.post(LIST, KMEM, **bearer(key)).status_code == 200
    [connection] = keys(keyed.rt, keyed.owner())
    with keyed.rt.store.write() as tx:
        assert tx.people.remove(connection.vault, connection.person, tx.now)
    keyed.rt.keys.forget(connection.id)
    gone = keyed.post(LIST, KMEM, **bearer(key))
    assert (gone.status_code, gone.text) == (401, keyed.post(LIST, KMEM, **bearer("dlm_" + "x" * 43)).text)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "{base}"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "not an origin"}, 403),
        ({"host": "evil.example"}, 403),
    ],
)
def test_only_this_servers_own_pages_and_names_are_let_in(served: Served, headers: dict[str, str], status: int) -> None:
    """C-314: no Origin is a command line; another, an opaque or a malformed one is refused, as is a foreign Host."""
    answer = served.post(LIST, KMEM, **{name: value.format(base=served.base) for name, value in headers.items()})
    assert answer.status_code == status
    if "host" in headers:
        assert "127.0.0.1, ::1, localhost" in error(answer)["message"]


def test_where_nobody_signs_in_there_is_nothing_of_signing_in(keyed: Served) -> None:
    """C-312."""
    for path in ("/oauth/register", "/oauth/token", "/oauth/authorize", "/.well-known/oauth-protected-resource/mcp"):
        assert keyed.http.get(keyed.base + path).status_code == 404
        assert keyed.http.post(keyed.base + path).status_code == 404


# --------------------------------------------------------------------------------------------------- what HTTP refuses
def test_what_is_no_request_of_the_protocol_is_refused_by_its_status(serve: Serve) -> None:
    """C-329, C-331, C-342: one endpoint, POST only, JSON only, 4 MB at most."""
    served = serve()
    for method in ("GET", "DELETE"):
        answer = served.http.request(method, served.base + KMEM)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS")
    bare = served.http.post(served.base + KMEM, content=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    assert bare.status_code == 415
    large = served.http.post(served.base + KMEM, content=b" " * (4 * 1024 * 1024 + 1), headers=JSON)
    assert (large.status_code, error(large)["code"]) == (413, "too-large")
    assert served.post(b"{", KMEM).status_code == 400


def test_no_session_is_kept_between_two_requests(serve: Serve) -> None:
    """C-329, C-334: another process answers the next one as well."""
    one = serve()
    other = serve(database=one.app.settings.database)
    hello = one.post(INITIALIZE, KMEM)
    assert "mcp-session-id" not in hello.headers
    made = one.call("remember", KMEM, content="Herons are grey.", kind="note")
    assert made["outcome"] == "created"
    assert other.call("read", KMEM, ref=made["ref"])["markdown"].endswith("Herons are grey.")


# --------------------------------------------------------------------------------------------------------- connections
def test_an_administrator_makes_connections_by_the_documents_request(keyed: Served) -> None:
    """C-308, C-45: `reach` of an older client is taken and ignored."""
    admin = bearer(keyed.key("owner", mode="admin"))
    with keyed.rt.store.read() as tx:
        now = tx.now
    for sent, days in (({}, 7), ({"expires_in": 30}, 30), ({"expires_in": 90, "reach": ["a"]}, 90)):
        body = {"label": "My laptop", "scope": "suggest", **sent}
        made = keyed.post(body, TOKENS, **admin).json()
        [connection] = [each for each in keys(keyed.rt, keyed.owner()) if each.id == made["id"]]
        assert (connection.mode, connection.toolset, connection.label) == ("suggest", "kmem", "My laptop")
        assert connection.expires_at is not None
        assert abs(connection.expires_at - now - days * DAY) < DAY // 24
        assert keyed.post(LIST, "/mcp", **bearer(made["token"])).status_code == 200
    forever = keyed.post({"label": "x", "scope": "read", "expires_in": None}, TOKENS, **admin).json()
    assert forever["expires_at"] is None
    assert {"label", "scope", "token", "id"} <= set(forever)


def test_no_connection_is_made_that_writes_while_agent_writes_are_off(keyed: Served) -> None:
    """C-140, C-344: 403 with the document's code."""
    admin = bearer(keyed.key("owner", mode="admin"))
    set_policy(keyed.rt, keyed.owner(), "agent_writes", "off")
    refused = keyed.post({"label": "x", "scope": "write"}, TOKENS, **admin)
    assert (refused.status_code, error(refused)["code"]) == (403, "agent-writes-off")
    assert keyed.post({"label": "x", "scope": "suggest"}, TOKENS, **admin).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"label": "x"}, 400),
        ({"label": "x", "scope": "admin"}, 400),
        ({"label": "", "scope": "read"}, 400),
        ({"label": "x", "scope": "read", "expires_in": 8}, 400),
        ({"label": "x", "scope": "read", "expires_in": True}, 400),
        ({"label": "x", "scope": "read", "colour": "red"}, 400),
        ([1], 400),
    ],
)
def test_a_connection_that_cannot_be_meant_is_not_made(keyed: Served, body: Any, status: int) -> None:
    answer = keyed.post(body, TOKENS, **bearer(keyed.key("owner", mode="admin")))
    assert (answer.status_code, error(answer)["code"]) == (status, "invalid-argument")
    assert len(keys(keyed.rt, keyed.owner())) == 1


@pytest.mark.parametrize("mode", ["read", "suggest", "write"])
def test_only_an_administrator_makes_connections(keyed: Served, mode: str) -> None:
    body = {"label": "x", "scope": "read"}
    assert keyed.post(body, TOKENS, **bearer(keyed.key(mode=mode))).status_code == 403
    assert keyed.post(body, TOKENS).status_code == 401


# ------------------------------------------------------------------------------------------------ what is kept
def test_a_request_that_is_answered_leaves_one_row_with_its_origin_and_a_refused_one_none(keyed: Served) -> None:
    """C-315, C-359: the connection, the operation, the address and the program; never a credential."""
    key = keyed.key("codex", toolset="kmem")
    program = {"user-agent": "codex/0.171 (ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5)"}
    keyed.call("recall", KMEM, bearer(key) | program, query="herons")
    keyed.call("remember", KMEM, bearer(key) | program, content="Herons are grey.", kind="note")
    keyed.call("read", KMEM, bearer(key) | program, ref="no/such")
    keyed.post(LIST, KMEM, **bearer("sp_guessed"), **program)
    keyed.rt.journal.flush()
    with keyed.rt.store.read() as tx:
        rows = [row for row in tx.journal.audited(keyed.owner().vault) if row.agent == "codex"]
    assert sorted(row.op for row in rows) == ["kmem:recall", "note:create"]
    [origin] = {row.origin for row in rows}
    assert origin.startswith("127.0.0.1 codex/0.171 (")
    assert "aB3dE5" not in origin
    assert key not in str(rows)


def test_health_tells_what_the_tools_cost(served: Served) -> None:
    """C-289, C-360: the figure that is measured and stored, below the document's own."""
    told = served.http.get(served.base + "/health").json()["footprint"]
    assert told == footprint.stored()
    assert 0 < told["kmem"]["list"] < 1_827
