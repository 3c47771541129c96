"""The store of this machine as the hook's memory, for those who run no server: its clients start `dolmen mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dolmen.app import App, open_app
from dolmen.interfaces.desk import LocalDesk
from dolmen.interfaces.mcp.toolsets.core import sessions
from dolmen.services.accounts import local_actor
from dolmen.services.policy import by_versions, under_policy
from dolmen.settings import Settings
from dolmen.store.opening import file_of

_HANDLERS = {"context": sessions.context, "reflect": sessions.reflect}


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """Answers as the server would, in this process and without a model; vectors are made later by whoever has one."""

    app: App
    agent: str

    @property
    def where(self) -> str:
        return self.app.settings.database

    def call(
        self, tool: str, arguments: Mapping[str, Any], *, seconds: float, session: str = "", toolset: str = "core"
    ) -> dict[str, Any]:
        actor = local_actor(self.app.runtime, agent=self.agent, mode=self.app.settings.mode)
        actor = under_policy(self.app.runtime, replace(actor, session=session or actor.session), by_versions)
        return _HANDLERS[tool](self.app.runtime, actor, dict(arguments))

    def desk(self) -> LocalDesk:
        actor = local_actor(self.app.runtime, agent=self.agent, mode=self.app.settings.mode)
        return LocalDesk(self.app.runtime, actor)

    def close(self) -> None:
        self.app.close()


def open_local(settings: Settings, agent: str) -> LocalMemory | None:
    """The store that the settings name; None when it is not there yet.

    Raises:
        DolmenError: it cannot be opened.
    """
    file = file_of(settings.database)
    if file is not None and not file.is_file():
        return None
    return LocalMemory(open_app(settings, models=False), settings.agent or agent)
