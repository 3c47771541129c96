"""Work that is done in the background: rows, so that any number of processes share it and none of it is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

JobStatus = Literal["waiting", "done", "dead"]
JobState = Literal["waiting", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work. Its payload and its error hold ids and numbers, never what anybody said."""

    id: str
    vault: str
    kind: str
    key: str
    """What it is about; there is one job of a kind for a key, whatever became of it."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    status: JobStatus = "waiting"
    attempts: int = 0
    """How often it was begun; a process that was killed while at it counts."""
    due_at: int = 0
    """When it may begin; while it is being done, when its lease runs out."""
    owner: str = ""
    """Who has its lease, or had it when they died."""
    created_at: int = 0
    finished_at: int | None = None
    error: str = ""
    """Why the last attempt failed."""


class Jobs(Protocol):
    """Every change of a job asks for its lease: false, and nothing changed, for one who has lost it."""

    def enqueue(self, job: Job) -> bool:
        """Adds a waiting one; False when there is one of its kind with its key, waiting, done or dead."""

    def lease(self, kinds: Sequence[str], owner: str, now: int, until: int, vault: str | None = None) -> Job | None:
        """The job of these kinds (of one vault, or of any) that has been due for longest, now the owner's until then,
        and counted as begun. A job whose lease has run out is due again. Nobody else gets the same one."""

    def renew(self, job: Job, until: int) -> bool:
        """A longer lease."""

    def finish(self, job: Job, at: int) -> bool:
        """It is done."""

    def put_back(self, job: Job, due_at: int, error: str, *, counted: bool = True) -> bool:
        """It failed and will be tried again; not `counted`, it has not been begun at all."""

    def bury(self, job: Job, at: int, error: str) -> bool:
        """It failed and is not tried again by itself."""

    def revive(self, vault: str, kind: str, now: int) -> int:
        """Dead ones are tried again, and those that wait for their next try begin now; returns how many."""

    def select(
        self, vault: str, kind: str | None = None, status: JobStatus | None = None, limit: int = 200
    ) -> list[Job]:
        """Oldest first."""

    def counts(self, vault: str | None, now: int) -> dict[str, dict[JobState, int]]:
        """{kind: {state: how many}} of a vault, or of all; `running` has a lease that holds."""

    def trim(self, vault: str, kind: str, before: int) -> int:
        """Forgets those that were done before then, with their keys; returns how many."""
