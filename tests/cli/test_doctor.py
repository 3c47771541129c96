"""`dolmen doctor` on stores and machines that are not as they should be."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dolmen.app import open_app
from dolmen.domain.values import DAY
from dolmen.interfaces.cli.commands.doctor import clients
from dolmen.interfaces.http.options import HttpOptions
from dolmen.services.accounts import local_actor
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.settings import Settings
from dolmen.store.opening import now, open_store
from tests.interfaces.conftest import serving

pytestmark = pytest.mark.slow


def doctor(url: str, *words: str, **settings: str) -> tuple[int, dict[str, list[Any]]]:
    """The exit code, and the findings by name."""
    variables = {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
    done = subprocess.run(
        [sys.executable, "-m", "dolmen", "doctor", "--json", *words],
        env={**os.environ, "DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    findings: dict[str, list[Any]] = {}
    for each in json.loads(done.stdout)["findings"]:
        findings.setdefault(each["name"], []).append(each)
    return done.returncode, findings


def fill(url: str, count: int) -> None:
    with open_app(Settings(database=url), models=False) as app:
        actor = local_actor(app.runtime, agent="codex", mode="write")
        remember(app.runtime, actor, [NewMemory(content=f"Statement number {n}") for n in range(count)])


def test_kenfolds_variables_are_named_with_what_says_the_same_here(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-378."""
    theirs = {"AGENT": "codex", "API_KEY": "kf_1", "DATABASE_URL": "postgres://k@h/kenfold", "DASHBOARD": "false"}
    for name, value in theirs.items():
        monkeypatch.setenv(f"KENFOLD_{name}", value)
    code, findings = doctor(sqlite_url, "--quick")
    counted, *rest = findings["kenfold"]
    assert (code, counted["level"]) == (0, "ok")
    assert "KENFOLD_AGENT (DOLMEN_AGENT)" in counted["what"]
    said = {each["what"].split()[0]: each for each in rest}
    assert sorted(said) == ["KENFOLD_API_KEY", "KENFOLD_DASHBOARD"]  # DOLMEN_DATABASE is set besides
    assert said["KENFOLD_API_KEY"]["fix"] == "Set DOLMEN_KEY, or unset it."
    assert "kf_1" not in json.dumps(findings)


def test_vectors_of_another_model_are_counted_and_explained(sqlite_url: str) -> None:
    """B014: 4 of 125 usable, and why."""
    fill(sqlite_url, 125)
    store = open_store(sqlite_url)
    with store.write() as tx:
        old = tx.index.model("old@1", 256, tx.now)
        new = tx.index.model("e5-small-q4@1", 384, tx.now)
        waiting = tx.index.pending(new, 200)
        for model, dim, batch in ((new, 384, waiting[:4]), (old, 256, waiting[4:])):
            row = np.full(dim, dim**-0.5, np.float32)
            tx.index.set_vectors(waiting[0].vault, model, [(each.passage, row) for each in batch])
    store.close()
    code, findings = doctor(sqlite_url, "--quick", embedder="local")
    [vectors] = findings["vectors"]
    assert code == 0
    assert vectors["level"] == "warn"
    assert vectors["what"].startswith("4/125 usable, model mismatch: the others were made by old@1")
    assert "dolmen reindex --vectors-only" in vectors["fix"]


def test_an_index_that_another_version_made_is_told(sqlite_url: str) -> None:
    from dolmen.services.upkeep import ANALYZER

    fill(sqlite_url, 1)
    store = open_store(sqlite_url)
    with store.write() as tx:
        tx.accounts.set(tx.accounts.vaults()[0][0], ANALYZER, "0")
    store.close()
    _, findings = doctor(sqlite_url)
    [index] = findings["index"]
    assert index["level"] == "warn"
    assert "dolmen reindex" in index["fix"]


def test_a_clock_that_went_back_is_noticed(sqlite_url: str) -> None:
    store = open_store(sqlite_url, clock=lambda: now() + DAY)
    store.close()
    fill(sqlite_url, 1)
    assert doctor(sqlite_url, "--quick")[1]["clock"][-1]["level"] == "ok"
    with open_app(Settings(database=sqlite_url), models=False) as app:
        with app.runtime.store.read() as tx:
            [(vault, _)] = tx.accounts.vaults()
            [memory] = list(tx.memories.stream(vault))
        with app.runtime.store.write() as tx:
            later = memory.with_(id=tx.new_id(), text="from tomorrow", updated_at=tx.now + DAY, created_at=tx.now + DAY)
            assert tx.memories.restore(later, [], "key")
    code, findings = doctor(sqlite_url, "--quick")
    assert code == 1
    assert findings["clock"][-1]["level"] == "fail"
    assert "later than this computer's time" in findings["clock"][-1]["what"]


def test_a_newer_store_is_refused_with_a_reason(sqlite_url: str) -> None:
    fill(sqlite_url, 1)
    import apsw

    connection = apsw.Connection(sqlite_url.removeprefix("sqlite:///"))
    connection.execute("INSERT INTO schema_migration VALUES (999, 'later', 'x', 0)")
    connection.close()
    code, findings = doctor(sqlite_url, "--quick")
    assert code == 1
    assert findings["store"][0]["level"] == "fail"
    assert findings["store"][0]["fix"]


def test_an_endpoint_that_does_not_answer_is_named(sqlite_url: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound, and never listens
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        _, findings = doctor(sqlite_url, embedder="http", embeddings_url=url, embeddings_model="m")
    [bad] = [each for each in findings["model"] if each["level"] == "warn"]
    assert bad["fix"]
    code, findings = doctor(sqlite_url, embedder="http")
    assert code == 1
    assert findings["model"][0]["level"] == "fail"


def test_another_program_on_the_port_is_told_from_our_own(sqlite_url: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def answer() -> None:
            for _ in range(2):
                with other.accept()[0] as peer:
                    peer.settimeout(5)
                    peer.recv(1000)
                    peer.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")

        threading.Thread(target=answer, daemon=True).start()
        _, findings = doctor(sqlite_url, "--quick", port=str(other.getsockname()[1]))
    [server] = findings["server"]
    assert server["level"] == "warn"
    assert "Another program listens" in server["what"]


@pytest.mark.parametrize(
    ("auth", "entry", "level", "said"),
    [
        ("auto", {}, "ok", "sees 13 tools"),
        ("auto", {"headers": {"Authorization": "Bearer KEY"}}, "ok", "sees 13 tools"),
        ("keys", {"headers": {"Authorization": "Bearer ${AGENTS_KEY}"}}, "ok", "sees 13 tools"),
        ("keys", {"headers": {"Authorization": "Bearer ${NOT_SET_HERE}"}}, "ok", "points here"),
        ("keys", {}, "fail", "is refused without a key (401)"),
        ("auto", {"headers": {"Authorization": "Bearer dlm_old"}}, "fail", "is refused with the key that stands there"),
    ],
)
def test_the_running_server_is_asked_as_each_client_asks_it(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auth: str, entry: Any, level: str, said: str
) -> None:
    with serving(sqlite_url, HttpOptions(auth=auth), embedder="none") as served:  # type: ignore[arg-type]
        key = served.key()
        monkeypatch.setenv("AGENTS_KEY", key)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        entry = {"url": served.url, **json.loads(json.dumps(entry).replace("Bearer KEY", f"Bearer {key}"))}
        (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"dolmen": entry}}))
        code, findings = doctor(sqlite_url, "--quick", port=served.base.rpartition(":")[2], auth=auth)
    [client] = findings["clients"]
    assert (client["level"], code) == (level, int(level == "fail"))
    assert said in client["what"]
    assert client["fix"] or level == "ok"
    assert ("without a key" if auth == "auto" else "every client needs a key") in findings["access"][0]["what"]


def test_a_misspelled_setting_is_a_finding(sqlite_url: str) -> None:
    _, findings = doctor(sqlite_url, "--quick", databse="x")
    assert [each["level"] for each in findings["settings"]] == ["ok", "warn"]
    assert "DOLMEN_DATABASE" in findings["settings"][1]["what"]


def test_a_postgresql_store_is_examined_too(postgres_url: str) -> None:
    code, findings = doctor(postgres_url, "--quick")
    assert code == 0
    assert "PostgreSQL" in findings["store"][0]["what"]


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("linux", ".config/Code/User/mcp.json"),
        ("darwin", "Library/Application Support/Code/User/mcp.json"),
        ("win32", "AppData/Roaming/Code/User/mcp.json"),
    ],
)
def test_each_system_keeps_the_editors_file_elsewhere(
    system: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    for name in ("APPDATA", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = [path for client, path in clients.files(tmp_path / "home", tmp_path / "here") if client == "VS Code"]
    assert found == [tmp_path / "home" / expected, tmp_path / "here" / ".vscode" / "mcp.json"]


@pytest.mark.parametrize(
    ("server", "level"),
    [
        ({"url": "http://127.0.0.1:PORT/mcp"}, "ok"),
        ({"url": "http://localhost:PORT/mcp/kmem"}, "ok"),
        ({"httpUrl": "http://127.0.0.1:PORT/mcp"}, "ok"),
        ({"url": "http://127.0.0.1:PORT"}, "warn"),
        ({"url": "http://127.0.0.1:1/mcp"}, "warn"),
        ({"command": "dolmen", "args": ["mcp"]}, "ok"),
        ({"command": "uvx", "args": ["dolmen", "mcp"]}, "ok"),
        ({"command": "/nowhere/bin/dolmen", "args": ["mcp"]}, "warn"),
    ],
)
def test_an_entry_of_a_client_is_judged_by_where_it_leads(
    server: dict[str, Any], level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.socket() as nobody:  # a port at which no server of this machine answers, whatever runs there
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        written = json.dumps({"mcpServers": {"dolmen": server}}).replace("PORT", str(port))
        (tmp_path / ".mcp.json").write_text(written)
        [finding] = clients.clients(Settings(port=port))
    assert finding.level == level
    assert finding.fix or level == "ok"


def test_another_server_is_none_of_our_business(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"git": {"command": "git-mcp"}}}))
    [finding] = clients.clients(Settings())
    assert "Claude Code does not know Dolmen yet" in finding.what


def test_a_reranker_is_looked_at_where_one_is_set(sqlite_url: str) -> None:
    from tests.models.rerank_endpoint import RerankServer

    fill(sqlite_url, 1)
    assert "reranker" not in doctor(sqlite_url, "--quick")[1]
    with RerankServer() as server:
        code, findings = doctor(sqlite_url, rerank_url=server.url, rerank_model="m")
        assert [each["level"] for each in findings["reranker"]] == ["ok", "ok"]
        server.failures = [401]
        code, findings = doctor(sqlite_url, rerank_url=server.url, rerank_model="m")
    assert (code, findings["reranker"][-1]["level"]) == (0, "warn")
    assert "status 401" in findings["reranker"][-1]["what"]
