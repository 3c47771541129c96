"""The hook where no server runs: it writes into the store of this machine, by the rules of every other door."""

from __future__ import annotations

from pathlib import Path

from dolmen.app import open_app
from dolmen.interfaces.hooks.local import open_local
from dolmen.services.accounts import local_actor
from dolmen.services.policy import set_policy
from dolmen.settings import Settings


def test_a_session_is_only_proposed_while_agent_writes_are_off(tmp_path: Path) -> None:
    """C-140: read on every call."""
    settings = Settings(database=f"sqlite:///{tmp_path}/dolmen.db", embedder="none")
    with open_app(settings, models=False) as app:
        owner = local_actor(app.runtime, agent="cli", human=True)
        memory = open_local(settings, "claude-code")
        assert memory is not None

        def outcome(words: str) -> str:
            [result] = memory.call("reflect", {"summary": words}, seconds=5)["results"]
            return str(result["outcome"])

        assert outcome("A day of herons.") == "stored"
        set_policy(app.runtime, owner, "agent_writes", "off")
        assert outcome("A night of owls.") == "proposed"
        set_policy(app.runtime, owner, "agent_writes", "on")
        assert outcome("A morning of geese.") == "stored"
        memory.close()
