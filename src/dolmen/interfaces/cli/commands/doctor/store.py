"""The store: does it open, is it private, is its index complete, does its clock agree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import format_utc
from dolmen.domain.values import HOUR, MINUTE
from dolmen.interfaces.cli.commands.doctor.finding import Finding, fail, failed, ok, size, warn
from dolmen.store.opening import file_of

if TYPE_CHECKING:
    from dolmen.app import App
    from dolmen.interfaces.cli.here import Here
    from dolmen.settings import Settings
    from dolmen.store.contract import StoreInfo

_LARGE_LOG = 64 * 1024 * 1024


def store(here: Here) -> Iterator[Finding]:
    file = file_of(here.settings.database)
    if file is not None and not file.exists():
        yield ok("store", f"not there yet: `dolmen serve` or the first memory makes {file}")
        return
    try:
        with here.app(models=True) as app:
            app.runtime.store.ping()
            info = app.runtime.store.info()
            yield from _engine(info)
            yield from _private(here.settings)
            yield from _clock(app)
            yield from _index(app)
            yield from _access(app, here.settings)
            yield from _jobs(app)
    except DolmenError as error:
        yield failed("store", error)


def _engine(info: StoreInfo) -> Iterator[Finding]:
    yield ok("store", f"{info.location}, {info.version}, schema {info.schema}, {size(info.size)}")
    if info.engine == "sqlite":
        yield ok("features", "full text search is built in; no loadable extension is needed, whatever this Python has")
        if info.wal_size > _LARGE_LOG:
            yield warn(
                "wal",
                f"The write-ahead log has {size(info.wal_size)}: some process has been reading for very long.",
                "End processes that hang (an export, a client that was left open); it then shrinks by itself.",
            )
    for warning in info.warnings:
        yield warn("store", warning, "Correct it while nothing else uses the store.")


def _private(settings: Settings) -> Iterator[Finding]:
    file = file_of(settings.database)
    if file is None or os.name != "posix":
        return
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & 0o077:
        yield warn("permissions", f"Other users may open the store (mode {mode:03o}).", f"chmod 600 '{file}'")
    else:
        yield ok("permissions", "only this user may open the store")


def _clock(app: App) -> Iterator[Finding]:
    from dolmen.services.stats import newest_change

    now, newest = newest_change(app.runtime)
    if newest is not None and newest > now + MINUTE:
        yield fail(
            "clock",
            f"The newest memory is from {format_utc(newest)}, later than this computer's time.",
            "Set the clock of this computer (Linux: timedatectl set-ntp true), or of the one that wrote it.",
        )
    else:
        yield ok("clock", f"{format_utc(now)[:19]}Z, not before the newest memory")


def _index(app: App) -> Iterator[Finding]:
    from dolmen.services.accounts import ensure_vault
    from dolmen.services.stats import coverage, index_health
    from dolmen.services.upkeep import REINDEX, outdated

    health = index_health(app.runtime, None)
    model = app.runtime.embedder.model if app.runtime.embedder else "none"
    said = coverage(health, model)
    with app.runtime.store.read() as tx:
        vault = ensure_vault(app.runtime)
        now, unfinished, old = tx.now, tx.accounts.setting(vault, REINDEX), outdated(tx, vault)
    if unfinished:
        yield warn("index", "The index is being made again, or that was broken off.", "Finish it: `dolmen reindex`.")
    elif old:
        yield warn(
            "index",
            "Another version of Dolmen made the index, so some words may not find what has them.",
            "A running server makes it again; or do it now: `dolmen reindex`.",
        )
    waited = 0 if health.oldest_pending_at is None else now - health.oldest_pending_at
    if model == "none" or health.embedded >= health.passages:
        yield ok("vectors", said)
    elif "mismatch" in said or waited > HOUR:
        yield warn(
            "vectors",
            f"{said}. What has none is found by words alone.",
            "A running server makes them; or do it now: `dolmen reindex --vectors-only`.",
        )
    else:
        yield ok("vectors", said)


def _access(app: App, settings: Settings) -> Iterator[Finding]:
    from dolmen.interfaces.cli.commands.serve import http_options
    from dolmen.interfaces.http.hosts import keyless
    from dolmen.services.accounts import ensure_vault

    vault = ensure_vault(app.runtime)
    with app.runtime.store.read() as tx:
        now = tx.now
        keys = tx.accounts.connections(vault)
        waiting = len(tx.proposals.select(vault, "pending", None, 1000))
    valid = [each for each in keys if each.revoked_at is None and (each.expires_at is None or each.expires_at > now)]
    need = "programs on this machine need none" if keyless(http_options(settings)) else "every client needs one"
    yield ok("keys", f"{len(valid) or 'none'}{' valid' if valid else ''}; {need}")
    if waiting:
        yield ok(
            "review",
            f"{waiting} {'proposal waits' if waiting == 1 else 'proposals wait'} for you: `dolmen review list`",
        )


def _jobs(app: App) -> Iterator[Finding]:
    from dolmen.services.stats import job_numbers

    numbers = job_numbers(app.runtime)
    dead = {kind: states["dead"] for kind, states in numbers.items() if states.get("dead")}
    waiting = sum(states.get("waiting", 0) + states.get("running", 0) for states in numbers.values())
    if dead:
        said = ", ".join(f"{number} of {kind}" for kind, number in sorted(dead.items()))
        yield warn("jobs", f"Background work failed too often: {said}.", "`dolmen extract --retry` tries it again.")
    elif numbers:
        yield ok("jobs", f"{waiting} wait for the chat model")
