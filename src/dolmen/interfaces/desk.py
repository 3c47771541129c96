"""The store of this machine as the desk of code references, for those who run no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dolmen.domain.code import Check, Target
from dolmen.domain.values import Actor
from dolmen.services.code import checking
from dolmen.services.code.catching_up import catch_up
from dolmen.services.runtime import Runtime


@dataclass(frozen=True, slots=True)
class LocalDesk:
    """Implements `client.refs.Desk` in this process."""

    rt: Runtime
    actor: Actor

    def targets(self, project: str, offset: int, seconds: float) -> Sequence[Target]:
        if offset == 0:
            catch_up(self.rt)  # without a server there may be no upkeep that does it
        return checking.targets(self.rt, self.actor, project, offset).targets

    def report(self, project: str, commit: str, checks: Sequence[Check], seconds: float) -> Mapping[str, int]:
        return checking.report(self.rt, self.actor, project, commit, checks).states
