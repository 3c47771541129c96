"""Signing in from a machine without a browser, keeping the tokens, and signing out, against a running server."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dolmen.client import endpoint
from dolmen.client.refs import Served as RefsDesk
from dolmen.client.remote import Remote
from dolmen.client.signin import asking, finding, kept
from dolmen.client.signin.asking import Prompt
from dolmen.domain.errors import DolmenError
from dolmen.interfaces.clients.targets import TARGETS
from dolmen.interfaces.http.options import HttpOptions
from dolmen.services import people
from dolmen.services.accounts import keys, revoke
from dolmen.services.notes.mirroring import Mirroring
from dolmen.settings import Settings
from tests.hooking import repository
from tests.interfaces.conftest import Served, serving
from tests.interfaces.http.test_oauth_flow import PASSWORD, Town, hidden

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]


@pytest.fixture(autouse=True)
def _nobody_is_signed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def town(new_store: Callable[[str], str]) -> Iterator[Town]:
    """A server that is reached under its public address, and its owner at a browser."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = HttpOptions(public_url=f"http://127.0.0.1:{port}")
    with serving(new_store("sqlite"), options, port, embedder="none") as served, httpx2.Client() as browser:
        owner = served.owner()
        link = people.entry_link(served.rt, owner, owner.person)
        browser.post(f"{served.base}/enter/{link}", data={"login": "ada", "password": PASSWORD})
        yield Town(served, browser)


def answer(town: Town, code: str, **chosen: str) -> None:
    """The person enters the code and decides."""
    base = town.served.base
    shown = town.browser.post(
        f"{base}/device", data={"token": hidden(town.browser.get(f"{base}/device"), "token"), "user_code": code}
    )
    form = {name: hidden(shown, name) for name in ("token", "user_code", "agent", "project")}
    sent = {**form, "mode": "write", "toolset": "core", "days": "30", "answer": "allow", **chosen}
    assert town.browser.post(f"{base}/device", data=sent).status_code == 200


def ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def signed_in(town: Town, url: str = "", *, decide: dict[str, str] | None = None, **wishes: Any) -> kept.SignIn:
    """Signs in; the person decides while the machine waits for the first time."""
    shown: list[Prompt] = []
    waited: list[float] = []

    def wait(seconds: float) -> None:
        if not waited:
            answer(town, shown[0].code, **(decide or {}))
        waited.append(seconds)

    found = finding.find(url or town.served.url)
    new = asking.sign_in(found, shown.append, wait=wait, **wishes)
    assert shown[0].complete.endswith(f"/device?user_code={shown[0].code}")
    assert waited == [5]
    return new


def calls(url: str = "") -> bool:
    """Whether what runs beside an agent is let in, as it finds its server."""
    return bool(Remote(endpoint.find("claude-code", Settings(url=url))).call("context", {}, seconds=10))


# ----------------------------------------------------------------------------------------------------------- signing in
@pytest.mark.parametrize("spelled", ["{base}", "{base}/", "{base}/mcp", "{base}/mcp/kenfold"])
def test_a_machine_signs_in_and_what_runs_on_it_is_let_in(town: Town, spelled: str) -> None:
    new = signed_in(town, spelled.format(base=town.served.base), mode="suggest", project="shop", toolset="kmem")
    assert (new.url, new.scope) == (town.served.url, "read suggest")
    [connection] = keys(town.served.rt, town.served.owner())
    assert (connection.mode, connection.project) == ("suggest", "shop")
    assert connection.agent.startswith("dolmen-on-")
    assert calls()
    assert calls(town.served.url)
    found = endpoint.find("cli", Settings())
    assert (found.named, found.key) == (True, "")
    assert RefsDesk(found).targets("shop", 0, 5.0) == []


def test_a_new_folder_is_mirrored_with_the_sign_in(town: Town, tmp_path: Path) -> None:
    signed_in(town, mode="write")
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.md").write_text("A note of this machine.\n")
    command = [sys.executable, "-m", "dolmen", "mirror", str(root), "--user"]
    assert "1 new note" in ran(command).stdout
    assert "nothing to do" in ran(command).stdout
    [note] = Mirroring(town.served.rt, town.served.owner(), "user").standing()
    assert note.place == "a.md"
    kept.forget(town.served.url)
    again = ran(command)
    assert again.returncode == 5
    assert "dolmen login" in again.stderr


def test_the_tokens_are_this_users_alone(town: Town) -> None:
    signed_in(town)
    assert kept.file().stat().st_mode & 0o777 == 0o600
    assert not list(kept.file().parent.glob("*.draft"))


def test_a_key_or_another_address_in_the_settings_wins(town: Town) -> None:
    signed_in(town)
    key = town.served.key("codex")
    assert endpoint.find("codex", Settings(key=key)).bearer(1) == key
    elsewhere = endpoint.find("codex", Settings(url="https://memory.example/mcp"))
    assert (elsewhere.account, elsewhere.bearer(1)) == ("", "")
    endpoint.enter("codex", "https://memory.example/mcp", "dlm_x")
    assert endpoint.find("codex", Settings()).bearer(1) == "dlm_x"


def test_signing_in_again_replaces_the_earlier_sign_in(town: Town) -> None:
    first, second = signed_in(town), signed_in(town)
    assert second.client == first.client
    valid = [each for each in keys(town.served.rt, town.served.owner()) if each.revoked_at is None]
    assert len(valid) == 1
    assert town.call(first.access).status_code == 401
    assert calls()


def test_a_client_that_the_server_forgot_registers_again(town: Town) -> None:
    kept.keep(replace(signed_in(town), client="dlc_forgotten"))
    assert signed_in(town).client != "dlc_forgotten"


def test_a_no_and_silence_keep_nothing(town: Town) -> None:
    with pytest.raises(DolmenError) as refused:
        signed_in(town, decide={"answer": "deny"})
    assert refused.value.code == "forbidden"
    with pytest.raises(DolmenError) as late:
        asking.sign_in(finding.find(town.served.url), lambda _: None, wait=lambda _: None)
    assert late.value.code == "gone"
    assert kept.latest() is None


# ------------------------------------------------------------------------------------------------------- keeping tokens
def aged(new: kept.SignIn) -> None:
    kept.keep(replace(new, expires_at=0.0))


def test_a_token_that_is_about_to_end_is_renewed(town: Town) -> None:
    new = signed_in(town)
    assert kept.access(new.url) == new.access
    aged(new)
    renewed = kept.access(new.url)
    assert renewed != new.access
    assert kept.access(new.url) == renewed
    assert town.call(renewed).status_code == 200


def test_several_processes_renew_a_token_once(town: Town) -> None:
    """B082: two that each used the old one would end the sign-in, once the seconds of grace are over."""
    aged(signed_in(town))
    program = "import sys; from dolmen.client.signin import kept; print(kept.access(sys.argv[1], 20))"
    command = [sys.executable, "-c", program, town.served.url]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: ran(command), range(4)))
    assert len({each.stdout for each in done}) == 1, [each.stderr for each in done]
    assert town.call(done[0].stdout.strip()).status_code == 200


def test_an_end_by_the_owner_is_told_with_the_way_back(town: Town) -> None:
    new = signed_in(town)
    [connection] = keys(town.served.rt, town.served.owner())
    revoke(town.served.rt, town.served.owner(), connection.id)
    aged(new)
    with pytest.raises(DolmenError) as ended:
        calls(new.url)
    assert ended.value.code == "unauthorized"
    assert f"dolmen login {new.url}" in ended.value.fix
    assert kept.latest() is None


def test_what_waits_for_one_sign_in_is_sent_to_no_other(town: Town) -> None:
    signed_in(town)
    mine = endpoint.find("codex", Settings()).destination
    aged(kept.latest() or pytest.fail("nobody is signed in"))
    assert endpoint.find("codex", Settings()).destination == mine
    assert replace(endpoint.find("codex", Settings()), account="other").destination != mine


def test_a_file_that_is_none_is_no_sign_in(town: Town) -> None:
    kept.file().parent.mkdir(parents=True, exist_ok=True)
    for text in ("", "[]", '{"servers": []}', '{"servers": {"x": {"url": 1}}}', "\udcff"):
        kept.file().write_bytes(text.encode("utf-8", "surrogateescape"))
        assert kept.latest() is None
        assert endpoint.find("codex", Settings()).account == ""
    signed_in(town)
    assert calls()


def test_signing_out_ends_the_tokens_here_and_there(town: Town) -> None:
    new = signed_in(town)
    assert asking.sign_out(town.served.base)
    assert town.call(new.access).status_code == 401
    assert kept.latest() is None
    with pytest.raises(DolmenError) as nowhere:
        asking.sign_out(town.served.base)
    assert nowhere.value.code == "not-found"


# ---------------------------------------------------------------------------------------------------------- the command
@pytest.mark.slow
def test_the_command_shows_the_code_and_waits(town: Town) -> None:
    run = [sys.executable, "-m", "dolmen"]
    command = [*run, "login", town.served.base, "--json", "--mode", "read", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        waiting = json.loads(process.stderr.readline())["waiting"]
        assert waiting["complete"] == f"{town.served.base}/device?user_code={waiting['code']}"
        answer(town, waiting["code"])
        out, errors = process.communicate(timeout=30)
    assert (errors, process.returncode) == ("", 0)
    assert json.loads(out) == {"url": town.served.url, "scope": "read", "client": json.loads(out)["client"]}
    done = ran([*run, "logout", "--json"])
    assert json.loads(done.stdout) == {"url": town.served.url, "revoked": True}
    again = ran([*run, "logout"])
    assert again.returncode == 3
    assert "signed in nowhere" in again.stderr


@pytest.mark.slow
def test_a_session_and_its_code_references_go_to_the_server_that_was_signed_in_to(town: Town, tmp_path: Path) -> None:
    """The processes that clients and git start: they know of no key, and find the sign-in."""
    signed_in(town)
    aged(kept.latest() or pytest.fail("nobody is signed in"))
    shop = repository(tmp_path / "shop")
    assert ran(["git", "-C", str(shop), "commit", "-q", "--allow-empty", "-m", "begin"]).returncode == 0
    key = {"authorization": f"Bearer {town.served.key('codex')}"}
    memory = {"content": "Releases are cut on Fridays.", "kind": "decision", "project": "github.com/acme/shop"}
    town.served.call("remember", headers=key, memories=[memory])
    event = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(shop), "source": "startup"}
    run = [sys.executable, "-m", "dolmen"]
    said = subprocess.run(
        [*run, "hook", "claude-code"], input=json.dumps(event), capture_output=True, text=True, timeout=60, check=False
    )
    assert "Releases are cut on Fridays." in said.stdout, said
    synced = ran([*run, "refs", "sync", "--json", "--directory", str(shop)])
    assert json.loads(synced.stdout)["project"] == "github.com/acme/shop", synced.stderr
    [connection] = [each for each in keys(town.served.rt, town.served.owner()) if not each.hint]
    town.served.rt.journal.flush()
    with town.served.rt.store.read() as tx:
        done = {row.op for row in tx.journal.audited(connection.vault) if row.connection == connection.id}
    assert {"context", "refs:targets"} <= done


def test_the_doctor_sees_whether_a_sign_in_still_holds(town: Town) -> None:
    from dolmen.interfaces.cli.commands.doctor.hooks import _reached

    [claude] = [target for target in TARGETS if target.client == "claude-code"]
    new = signed_in(town)
    assert list(_reached(claude, Settings())) == []
    [connection] = keys(town.served.rt, town.served.owner())
    revoke(town.served.rt, town.served.owner(), connection.id)
    aged(new)
    [finding_] = _reached(claude, Settings())
    assert f"dolmen login {new.url}" in finding_.fix


def test_without_a_browser_the_address_is_printed(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from dolmen.interfaces.cli.main import cli

    def wait(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(asking.time, "sleep", wait)
    said = CliRunner().invoke(cli, ["login", town.served.base, "--no-browser"]).stderr
    assert re.search(rf"{town.served.base}/device\?user_code=[A-Z-]{{9}}\n +code [A-Z]{{4}}-[A-Z]{{4}}\n", said), said


def test_a_server_that_needs_no_signing_in_says_so(served: Served) -> None:
    with pytest.raises(DolmenError) as open_:
        finding.find(served.base)
    assert "without signing in" in open_.value.message
