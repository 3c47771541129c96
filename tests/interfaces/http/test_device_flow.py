"""RFC 8628 over HTTP: a machine that cannot show a browser, and its person at another one, against a running server."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from dolmen.domain.oauth import ALPHABET, DEVICE_GRANT
from dolmen.services.accounts import keys
from tests.interfaces.http.test_oauth_flow import BASE, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]


def machine(town: Town, **metadata: Any) -> str:
    sent = {"client_name": "Dolmen on box", "grant_types": [DEVICE_GRANT, "refresh_token"], **metadata}
    answer = town.served.http.post(town.served.base + "/oauth/register", json=sent)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["client_id"])


def asked(town: Town, *fields: tuple[str, str]) -> httpx2.Response:
    """The device authorization request."""
    from urllib.parse import urlencode

    headers = {"content-type": "application/x-www-form-urlencoded"}
    there = town.served.base + "/oauth/device_authorization"
    return town.served.http.post(there, content=urlencode(fields).encode(), headers=headers)


def polled(town: Town, client: str, code: str) -> httpx2.Response:
    form = {"grant_type": DEVICE_GRANT, "device_code": code, "client_id": client}
    return town.served.http.post(town.served.base + "/oauth/token", data=form)


def entered(town: Town, code: str, **more: str) -> httpx2.Response:
    """The person's form, with the token of the page that they see."""
    token = hidden(town.get("/device"), "token")
    return town.post("/device", {"token": token, "user_code": code, **more})


def allowed(town: Town, code: str, **chosen: str) -> httpx2.Response:
    shown = entered(town, code)
    assert shown.status_code == 200, shown.text
    form = {name: hidden(shown, name) for name in ("token", "user_code", "agent", "project")}
    return town.post(
        "/device", {**form, "mode": "suggest", "toolset": "core", "days": "30", "answer": "allow", **chosen}
    )


# -------------------------------------------------------------------------------------------------- what machines send
def _found(answer: httpx2.Response) -> bool:
    return answer.status_code == 200 and answer.headers["content-type"] == "application/json"


def _refused(code: str) -> Callable[[httpx2.Response], bool]:
    return lambda answer: answer.status_code in (400, 401) and answer.json()["error"] == code


@pytest.mark.parametrize(
    ("section", "fields", "right"),
    [
        ("§3.1 client_id alone is enough", [], _found),
        ("§3.1 a parameter without a value counts as left out", [("scope", ""), ("resource", "")], _found),
        ("§3.1 unknown parameters are ignored", [("nonsense", "1")], _found),
        ("§3.1 no parameter comes twice", [("scope", "read"), ("scope", "write")], _refused("invalid_request")),
        ("§3.1 RFC 6749 §3.3 an unknown scope", [("scope", "everything")], _refused("invalid_scope")),
        ("RFC 8707 §2 another server's resource", [("resource", "https://x.example")], _refused("invalid_target")),
        ("§3.1 RFC 6749 §2.3 no client has a secret here", [("client_secret", "x")], _refused("invalid_client")),
    ],
)
def test_a_machine_asks_for_codes(
    town: Town, section: str, fields: list[tuple[str, str]], right: Callable[[httpx2.Response], bool]
) -> None:
    answer = asked(town, ("client_id", machine(town)), *fields)
    assert right(answer), f"{section}: {answer.text}"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("client", "code"), [("", "invalid_request"), ("dlc_none", "invalid_client")])
def test_nobody_unknown_gets_codes(town: Town, client: str, code: str) -> None:
    """§3.1"""
    assert asked(town, ("client_id", client)).json()["error"] == code


def test_the_answer_holds_what_a_machine_needs(town: Town) -> None:
    """§3.2, §5.1 (entropy), §5.2, §6.1 (letters)"""
    client = machine(town)
    found = [asked(town, ("client_id", client)).json() for _ in range(2)]
    for one in found:
        assert set(one) == {
            "device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval",
        }  # fmt: skip
        assert re.fullmatch(rf"[{ALPHABET}]{{4}}-[{ALPHABET}]{{4}}", one["user_code"])
        assert len(one["device_code"]) >= 43
        assert one["user_code"] not in one["device_code"]
        assert one["verification_uri"] == f"{BASE}/device"
        assert one["verification_uri_complete"] == f"{BASE}/device?user_code={one['user_code']}"
        assert (one["expires_in"], one["interval"]) == (600, 5)
    assert found[0]["user_code"] != found[1]["user_code"]
    assert found[0]["device_code"] != found[1]["device_code"]


def test_the_metadata_name_the_endpoint_and_the_grant(town: Town) -> None:
    """§4"""
    found = town.get("/.well-known/oauth-authorization-server").json()
    assert found["device_authorization_endpoint"] == f"{BASE}/oauth/device_authorization"
    assert DEVICE_GRANT in found["grant_types_supported"]


def test_a_client_for_machines_alone_returns_nowhere(town: Town) -> None:
    """RFC 7591 §2"""
    sent = {"grant_types": [DEVICE_GRANT, "refresh_token"]}
    found = town.served.http.post(town.served.base + "/oauth/register", json=sent).json()
    assert (found["redirect_uris"], found["response_types"]) == ([], [])
    assert found["grant_types"] == ["refresh_token", DEVICE_GRANT]
    assert town.get(town.request(found["client_id"])).status_code == 400
    both = {"grant_types": [DEVICE_GRANT, "authorization_code"]}
    assert town.served.http.post(town.served.base + "/oauth/register", json=both).status_code == 400


# ---------------------------------------------------------------------------------------------------------- the answers
def test_a_machine_asks_until_its_person_has_decided(town: Town) -> None:
    """§3.4, §3.5: authorization_pending, slow_down, then the tokens, once."""
    town.enter()
    client = machine(town)
    codes = asked(town, ("client_id", client), ("scope", "read suggest"), ("project", "shop")).json()
    for error in ("authorization_pending", "slow_down"):
        answer = polled(town, client, codes["device_code"])
        assert (answer.status_code, answer.json()["error"]) == (400, error)
    done = allowed(town, codes["user_code"], agent="Box at home")
    assert "The device is let in" in done.text
    given = polled(town, client, codes["device_code"])
    assert given.status_code == 200, given.text
    assert (given.json()["token_type"], given.json()["scope"]) == ("Bearer", "read suggest")
    assert town.call(given.json()["access_token"]).status_code == 200
    [connection] = keys(town.served.rt, town.served.owner())
    assert (connection.agent, connection.mode, connection.project) == ("box-at-home", "suggest", "shop")
    again = town.token(grant_type="refresh_token", refresh_token=given.json()["refresh_token"], client_id=client)
    assert again.status_code == 200
    assert polled(town, client, codes["device_code"]).json()["error"] == "invalid_grant"


def test_a_machine_is_told_no(town: Town) -> None:
    """§3.5: access_denied"""
    town.enter()
    client = machine(town)
    codes = asked(town, ("client_id", client)).json()
    assert "The device is not let in" in entered(town, codes["user_code"], answer="deny").text
    assert polled(town, client, codes["device_code"]).json()["error"] == "access_denied"


@pytest.mark.parametrize(
    ("section", "changes", "error"),
    [
        ("§3.4 device_code is required", {"device_code": ""}, "invalid_request"),
        ("§3.4 client_id is required", {"client_id": ""}, "invalid_request"),
        ("§3.4 the client is known", {"client_id": "dlc_none"}, "invalid_client"),
        ("§3.4 the grant has its full name", {"grant_type": "device_code"}, "unsupported_grant_type"),
        ("§3.4 RFC 6749 §5.2 a code that is none", {"device_code": "dld_none"}, "invalid_grant"),
    ],
)
def test_a_question_that_is_none_is_refused(town: Town, section: str, changes: dict[str, str], error: str) -> None:
    client = machine(town)
    codes = asked(town, ("client_id", client)).json()
    form = {"grant_type": DEVICE_GRANT, "device_code": codes["device_code"], "client_id": client, **changes}
    answer = town.served.http.post(town.served.base + "/oauth/token", data=form)
    assert answer.json()["error"] == error, section


# ------------------------------------------------------------------------------------------------------------- the page
def test_a_link_with_the_code_still_asks_to_compare_it(town: Town) -> None:
    """§3.3.1, §5.4: whoever sends the link may be somebody else."""
    town.enter()
    codes = asked(town, ("client_id", machine(town))).json()
    page = town.get(codes["verification_uri_complete"])
    assert f'value="{codes["user_code"]}"' in page.text
    assert "does your device show exactly this code" in page.text
    assert 'name="answer"' not in page.text
    consent = entered(town, codes["user_code"])
    assert f'<strong class="code">{codes["user_code"]}</strong>' in consent.text
    assert "Dolmen on box" in consent.text
    assert "you started this yourself" in consent.text
    assert "script" not in consent.text


@pytest.mark.parametrize("spelling", [str.lower, lambda code: code.replace("-", ""), lambda code: f" {code}. "])
def test_a_person_enters_the_code_as_they_like(town: Town, spelling: Callable[[str], str]) -> None:
    """§6.1"""
    town.enter()
    codes = asked(town, ("client_id", machine(town))).json()
    assert 'name="answer"' in entered(town, spelling(codes["user_code"])).text


def test_who_is_not_signed_in_signs_in_first_and_learns_nothing_about_codes(town: Town) -> None:
    """§5.1"""
    codes = asked(town, ("client_id", machine(town))).json()
    pages = [town.get(f"/device?user_code={code}").text for code in (codes["user_code"], "BBBB-BBBB")]
    assert all('name="password"' in page for page in pages)
    assert pages[0].replace(codes["user_code"], "") == pages[1].replace("BBBB-BBBB", "")
    posted = [town.post("/device", {"user_code": code}).text for code in (codes["user_code"], "BBBB-BBBB")]
    assert posted[0].replace(codes["user_code"], "") == posted[1].replace("BBBB-BBBB", "")


def test_codes_cannot_be_guessed_at(town: Town) -> None:
    """§5.1"""
    town.enter()
    codes = asked(town, ("client_id", machine(town))).json()
    guesses = [entered(town, f"BBBB-BBB{letter}").status_code for letter in "BCDFGHJ"]
    assert guesses[:5] == [404] * 5
    assert guesses[-1] == 429
    assert entered(town, codes["user_code"]).status_code == 429  # else nobody would be kept from finding it


def test_another_sites_form_lets_no_machine_in(town: Town) -> None:
    """§5.4"""
    town.enter()
    codes = asked(town, ("client_id", machine(town))).json()
    form = {"user_code": codes["user_code"], "agent": "x", "mode": "write", "days": "30", "toolset": "core"}
    for token in ("", "0" * 64):
        answer = town.post("/device", {**form, "answer": "allow", "token": token})
        assert answer.status_code == 403
        assert 'name="answer"' not in answer.text
    assert town.post("/device", {**form, "answer": "allow"}, origin="https://evil.example").status_code == 403
    assert keys(town.served.rt, town.served.owner()) == []


def test_a_choice_that_cannot_hold_is_shown_again(town: Town) -> None:
    town.enter()
    codes = asked(town, ("client_id", machine(town)), ("toolset", "kenfold")).json()
    assert "<option selected>kenfold</option>" in entered(town, codes["user_code"]).text
    answer = allowed(town, codes["user_code"], days="12")
    assert answer.status_code == 400
    assert codes["user_code"] in answer.text
    assert "The device is let in" in allowed(town, codes["user_code"]).text
    assert allowed_again(town, codes["user_code"]) == 404


def allowed_again(town: Town, code: str) -> int:
    return entered(town, code, answer="allow", agent="x", mode="read", days="30", toolset="core").status_code


@pytest.mark.parametrize(("accepted", "words"), [("ko", "기기 연결"), ("en", "Connect a device")])
def test_the_page_speaks_its_readers_language(town: Town, accepted: str, words: str) -> None:
    town.enter()
    assert words in town.get("/device", **{"accept-language": accepted}).text
