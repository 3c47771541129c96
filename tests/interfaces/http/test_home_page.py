"""The page of somebody who is signed in: their vaults, and the one that clients are offered first."""

from __future__ import annotations

import html
import re

import pytest

from dolmen.services import people, vaults
from dolmen.services.people import LONGEST
from tests.interfaces.conftest import Serve
from tests.interfaces.http.test_oauth_flow import BACK, PASSWORD, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]

NOWHERE = "01900000-0000-7000-8000-00000000dead"


def listed(page: str) -> list[str]:
    """What stands in the list of vaults, in words."""
    section = page.partition('aria-labelledby="vaults-heading"')[2].partition("</section>")[0]
    lines = re.findall(r"<li.*?</li>", section, re.DOTALL)
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", " ", line)).split()) for line in lines]


def offered(town: Town, client: str) -> str:
    """The vault that the consent page proposes."""
    [found] = re.findall(r'<option value="([^"]+)" selected>', town.get(town.request(client)).text.partition("days")[0])
    return str(found)


def choose(town: Town, vault: str) -> None:
    answer = town.post("/home", {"token": hidden(town.get("/home"), "token"), "vault": vault})
    assert (answer.status_code, answer.headers["location"]) == (303, "/home?done=vault")


def test_a_person_of_one_vault_sees_no_list(town: Town) -> None:
    town.enter()
    page = town.get("/home").text
    assert listed(page) == []
    assert "vaults-heading" not in page
    assert "vaults-heading" not in town.get("/home?done=vault").text


def test_a_person_of_several_vaults_chooses_the_one_that_clients_are_offered_first(town: Town) -> None:
    town.enter()
    client = town.register()
    work = vaults.add_vault(town.served.rt, town.served.owner(), "Work & <more>")
    home = town.served.owner().vault
    assert listed(town.get("/home").text) == [
        "main offered first owner · your connections: 0",
        "Work & <more> owner · your connections: 0 Offer first",
    ]
    assert offered(town, client) == home
    choose(town, work.id)
    page = town.get("/home?done=vault").text
    assert '<p class="done" role="status">Work &amp; &lt;more&gt; is offered first from now on.</p>' in page
    assert listed(page)[1] == "Work & <more> offered first owner · your connections: 0"
    assert offered(town, client) == work.id
    assert town.tokens(client, vault=work.id)
    assert listed(town.get("/home").text)[1].endswith("your connections: 1")
    assert "· core · Work &amp; &lt;more&gt; ·" in town.get("/account").text
    choose(town, home)
    assert offered(town, client) == home
    korean = town.get("/home", **{"accept-language": "ko"}).text
    assert listed(korean)[0] == "main 먼저 제안 소유자 · 내 연결 0개"


def test_what_was_posted_counts_more_than_what_was_chosen_before(town: Town) -> None:
    town.enter()
    work = vaults.add_vault(town.served.rt, town.served.owner(), "Work")
    request = town.request(town.register())
    form = {"token": hidden(town.get(request), "token"), "mode": "read", "agent": "?", "toolset": "core", "days": "7"}
    refused = town.post(request, {**form, "vault": work.id, "answer": "allow"}).text
    assert f'<option value="{work.id}" selected>' in refused


@pytest.mark.parametrize("vault", ["", NOWHERE, "main", "other"])
def test_a_vault_that_is_not_theirs_is_refused_like_one_that_is_not_there(town: Town, vault: str) -> None:
    town.enter()
    vaults.add_vault(town.served.rt, town.served.owner(), "Work")
    if vault == "other":
        vault = _others(town)
    answer = town.post("/home", {"token": hidden(town.get("/home"), "token"), "vault": vault})
    assert answer.status_code == 403
    assert "That is no vault of yours. Choose one of the list." in answer.text
    assert "set-cookie" not in answer.headers


def _others(town: Town) -> str:
    """A vault that somebody else alone is in."""
    made = vaults.add_vault(town.served.rt, town.served.owner(), "Theirs")
    with town.served.rt.store.write() as tx:
        tx.people.remove(made.id, town.served.owner().person, tx.now)
    return made.id


def test_a_remembered_vault_counts_only_as_long_as_it_is_theirs(town: Town) -> None:
    """Also one that somebody wrote into the cookie."""
    town.enter()
    client, home = town.register(), town.served.owner().vault
    vaults.add_vault(town.served.rt, town.served.owner(), "Work")
    for remembered in (_others(town), NOWHERE, "<script>"):
        town.browser.cookies.set("dolmen-vault", remembered, domain="127.0.0.1")
        assert offered(town, client) == home
        assert listed(town.get("/home").text)[0].startswith("main offered first")
        town.browser.cookies.delete("dolmen-vault")


def test_signing_out_forgets_the_vault(town: Town) -> None:
    town.enter()
    work = vaults.add_vault(town.served.rt, town.served.owner(), "Work")
    choose(town, work.id)
    assert town.browser.cookies.get("dolmen-vault") == work.id
    town.post("/sign-out", {"token": hidden(town.get("/home"), "token")})
    assert town.browser.cookies.get("dolmen-vault") is None


def test_a_client_of_a_key_is_offered_the_keys_vault(town: Town) -> None:
    """C-306: it is let into no other."""
    town.enter()
    key = {"authorization": f"Bearer {town.served.key('chatgpt', mode='write')}"}
    sent = {"client_name": "My App", "redirect_uris": [BACK]}
    client = town.served.http.post(town.served.base + "/oauth/register", json=sent, headers=key).json()["client_id"]
    choose(town, vaults.add_vault(town.served.rt, town.served.owner(), "Work").id)
    assert offered(town, client) == town.served.owner().vault


@pytest.mark.parametrize(
    ("base", "name", "path"),
    [
        ("https://memory.example.com", "__Host-dolmen-vault", "/"),
        ("https://example.com/team/a", "__Host-dolmen-65f838a2fbff-vault", "/"),
        ("http://localhost:7077/team", "dolmen-ca8b22d0db83-vault", "/team"),
    ],
)
def test_the_choice_is_kept_for_each_server_as_long_as_a_session(serve: Serve, base: str, name: str, path: str) -> None:
    """RFC 6265bis §4.1.3.2"""
    served = serve(public_url=base)
    owner = served.owner()
    link = people.entry_link(served.rt, owner, owner.person)
    work = vaults.add_vault(served.rt, owner, "Work")
    entered = served.http.post(f"{served.base}/enter/{link}", data={"login": "ada", "password": PASSWORD})
    session = {"cookie": entered.headers.get_list("set-cookie")[0].partition(";")[0]}
    form = {"token": hidden(served.http.get(f"{served.base}/home", headers=session), "token"), "vault": work.id}
    answer = served.http.post(f"{served.base}/home", data=form, headers=session)
    [cookie] = answer.headers.get_list("set-cookie")
    parts = [part.strip().lower() for part in cookie.split(";")]
    assert parts[0] == f"{name.lower()}={work.id}"
    secure = ["secure"] * base.startswith("https")
    assert set(parts[1:]) == {f"path={path}", "httponly", "samesite=lax", f"max-age={LONGEST // 1_000_000}", *secure}
