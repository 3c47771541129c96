"""Opening by URL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.opening import open_store


@pytest.mark.parametrize("url", ["", "memory.db", "sqlite", "sqlite://", "sqlite:///", "mysql://host/db", "/path"])
def test_what_is_no_store_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(DolmenError) as refused:
        open_store(url)
    assert refused.value.code == "configuration"
    assert "sqlite:///" in refused.value.fix


def test_a_refusal_of_a_url_shows_no_password() -> None:
    with pytest.raises(DolmenError) as refused:
        open_store("mysql://ada:secret@host/db")
    assert "secret" not in str(refused.value.as_dict())


def test_a_relative_path_is_below_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///data/m.db")
    monkeypatch.chdir("/")
    store.ping()
    store.close()
    assert (tmp_path / "data" / "m.db").exists()


def test_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    open_store("sqlite:///~/m.db").close()
    assert (tmp_path / "m.db").exists()


def test_a_store_in_memory_is_shared_by_threads_and_gone_afterwards() -> None:
    store = open_store("sqlite:///:memory:")
    place = Path(store.info().location).parent
    with store.write() as tx:
        tx.accounts.add_vault("v", "n", "o", "O")
    with store.read() as tx:
        assert tx.accounts.vaults() == [("v", "n")]
    assert place.exists()
    store.close()
    assert not place.exists()


def test_opening_and_reading_loads_neither_numpy_nor_the_other_engine(tmp_path: Path) -> None:
    """Light commands start fast."""
    code = (
        "import sys; from dolmen.store.opening import open_store; from dolmen.store.contract import Filter\n"
        f"store = open_store('sqlite:///{tmp_path.as_posix()}/m.db')\n"
        "with store.read() as tx:\n"
        "    tx.memories.select(Filter('v', None, 0)); tx.index.match(Filter('v', None, 0), ['a'], 1)\n"
        "store.close()\n"
        "print([name for name in ('numpy', 'psycopg', 'dolmen.store.postgres') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
