"""Upkeep: vectors that follow, an index that can be made again, numbers that tell the truth, a thread that ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import DAY, HOUR
from dolmen.models.contract import ModelUnavailable
from dolmen.services import upkeep
from dolmen.services.backfill import BATCH, Backfill
from dolmen.services.edit import edit
from dolmen.services.forget import forget
from dolmen.services.requests import Edit, FeedbackRequest, Forget
from dolmen.services.stats import coverage, index_health, newest_change
from tests.services.conftest import House

if TYPE_CHECKING:
    from dolmen.models.contract import Vector, Vectors


class Counting:
    """An embedder of a few dimensions that does arithmetic: the first ones count letters."""

    def __init__(self, model: str = "letters@1", dim: int = 8) -> None:
        self.model, self.dim, self.ready = model, dim, True
        self.embedded: list[str] = []
        self.warmed = threading.Event()
        self.refuses: tuple[str, ...] = ()
        self.down = False

    def warm(self) -> None:
        self.warmed.set()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.down or any(word in text for word in self.refuses for text in texts):
            raise ModelUnavailable("it does not take this")
        self.embedded += texts
        rows = np.array([self._row(text) for text in texts], np.float32).reshape(len(texts), self.dim)
        return rows

    def embed_query(self, text: str) -> Vector:
        return np.array(self._row(text), np.float32)

    def _row(self, text: str) -> list[float]:
        counts = [1.0 + text.lower().count(chr(ord("a") + n)) for n in range(self.dim)]
        norm = sum(value * value for value in counts) ** 0.5
        return [value / norm for value in counts]

    def unrelated(self, text: str) -> float | None:
        return None

    def close(self) -> None:
        """Nothing to release."""


def with_model(house: House, embedder: Counting) -> House:
    return replace(house, rt=replace(house.rt, embedder=embedder))


def fill(house: House, count: int) -> list[str]:
    return [house.stored(f"Statement number {n} about the service") for n in range(count)]


def covered(house: House) -> tuple[int, int]:
    health = index_health(house.rt, house.owner)
    return health.embedded, health.passages


def test_what_was_stored_without_a_model_is_embedded_later(house: House) -> None:
    fill(house, 5)
    now = with_model(house, Counting())
    assert covered(now) == (0, 5)
    assert upkeep.backfill(now.rt) == 5
    assert covered(now) == (5, 5)
    assert upkeep.backfill(now.rt) == 0


def test_another_model_embeds_everything_again_in_place(house: House) -> None:
    """B012, B017: vectors of two models are never mixed, also with the same dimension, and nothing starts anew."""
    refs = fill(house, 5)
    first = with_model(house, Counting("letters@1", 8))
    upkeep.backfill(first.rt)
    for name, dim in (("letters@2", 8), ("letters@3", 6)):
        other = with_model(house, Counting(name, dim))
        assert covered(other) == (0, 5)
        assert name not in coverage(index_health(other.rt, other.owner), name)
        assert "model mismatch" in coverage(index_health(other.rt, other.owner), name)
        assert set(refs) & set(other.refs("Statement number about the service"))
        assert upkeep.backfill(other.rt) == 5
        assert covered(other) == (5, 5)


def test_health_says_how_many_vectors_are_usable(house: House) -> None:
    """B014: `4/125 usable, model mismatch`."""
    fill(house, 12)
    old = with_model(house, Counting("old@1", 8))
    upkeep.backfill(old.rt)
    new = with_model(house, Counting("new@1", 4))
    assert upkeep.backfill(new.rt, 4) == 4
    numbers = upkeep.health(new.rt)["index"]
    assert numbers["vectors"] == "4/12 usable, model mismatch: the others were made by old@1"
    assert numbers["models"] == {"old@1": 8, "new@1": 4}


def test_a_backfill_that_was_broken_off_goes_on_where_it_was(house: House) -> None:
    """B017: every batch is kept."""
    fill(house, BATCH + 10)
    embedder = Counting()
    now = with_model(house, embedder)
    done: list[int] = []

    class Killed(BaseException):
        pass

    def progress(count: int) -> None:
        done.append(count)
        raise Killed

    with pytest.raises(Killed):
        upkeep.backfill(now.rt, progress=progress)
    assert done == [BATCH]
    assert covered(now) == (BATCH, BATCH + 10)
    embedder.embedded.clear()
    assert upkeep.backfill(now.rt) == 10
    assert len(embedder.embedded) == 10


def test_one_process_embeds_at_a_time_and_a_dead_one_is_followed_after_a_minute(house: House) -> None:
    fill(house, 3)
    now = with_model(house, Counting())
    with now.rt.store.write() as tx:
        assert tx.leases.take("backfill", "somebody else", tx.now, tx.now + HOUR // 60)
    assert upkeep.backfill(now.rt) == 0
    now.clock.advance(HOUR // 60)
    assert upkeep.backfill(now.rt) == 3


def test_a_text_that_the_model_refuses_does_not_hold_back_the_others(house: House) -> None:
    fill(house, 4)
    house.stored("poison: no model takes this")
    fill_after = [house.stored(f"Later statement {n}") for n in range(3)]
    embedder = Counting()
    embedder.refuses = ("poison",)
    now = with_model(house, embedder)
    work = Backfill(now.rt)
    assert work.run() == 8
    assert covered(now) == (7, 8)
    assert not work.waiting()
    assert len(fill_after) == 3


def test_a_model_that_is_down_is_told_and_nothing_is_lost(house: House) -> None:
    fill(house, 4)
    embedder = Counting()
    embedder.down = True
    now = with_model(house, embedder)
    with pytest.raises(ModelUnavailable):
        upkeep.backfill(now.rt)
    embedder.down = False
    assert upkeep.backfill(now.rt) == 4


@pytest.mark.parametrize("fresh", [False, True])
def test_a_reindex_gives_the_same_answers_as_before(house: House, fresh: bool) -> None:
    """DESIGN rule 9: the index can be dropped and made again; also what memory said in the past."""
    plain = house.stored("Deploys happen on Tuesday", tags=("release",))
    changed = house.stored("The cache lives in Redis")
    before = house.clock.now
    house.clock.advance(DAY)
    edit(house.rt, house.owner, Edit(changed, "amend", content="The cache lives in Valkey"))
    gone = house.stored("The printer is on the third floor")
    forget(house.rt, house.owner, Forget(ref=gone))
    expected = {
        "deploys": house.refs("when do deploys happen"),
        "valkey": house.refs("Valkey"),
        "redis": house.refs("Redis"),
        "then": house.refs("Redis", as_of=before),
        "printer": house.refs("printer floor"),
    }
    assert expected["deploys"] == [plain]
    assert expected["then"] == [changed]
    seen: list[tuple[int, int]] = []
    assert upkeep.reindex(house.rt, house.owner, lambda done, total: seen.append((done, total)), fresh=fresh) == 3
    assert seen == [(3, 3)]
    assert expected == {
        "deploys": house.refs("when do deploys happen"),
        "valkey": house.refs("Valkey"),
        "redis": house.refs("Redis"),
        "then": house.refs("Redis", as_of=before),
        "printer": house.refs("printer floor"),
    }


def test_a_fresh_reindex_that_was_killed_is_finished_by_the_next(house: House) -> None:
    refs = fill(house, 250)

    class Killed(BaseException):
        pass

    def progress(done: int, total: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        upkeep.reindex(house.rt, house.owner, progress, fresh=True)
    with house.rt.store.read() as tx:
        assert tx.accounts.setting("main", upkeep.REINDEX)
    assert upkeep.reindex(house.rt, house.owner) == 150
    with house.rt.store.read() as tx:
        assert not tx.accounts.setting("main", upkeep.REINDEX)
        hits = tx.index.health(house_filter(house), None)
    assert hits.passages == len(refs)


def test_an_index_of_another_analyzer_is_made_again_once(house: House) -> None:
    ref = house.stored("Deploys happen on Tuesday")
    with house.rt.store.write() as tx:
        tx.accounts.set("main", upkeep.ANALYZER, "0")
        tx.index.clear("main")
        assert upkeep.outdated(tx, "main")
    assert house.refs("deploys") == []
    assert upkeep.follow_analyzer(house.rt) == ["main"]
    assert house.refs("deploys") == [ref]
    assert upkeep.follow_analyzer(house.rt) == []
    with house.rt.store.read() as tx:
        assert not upkeep.outdated(tx, "main")


def test_an_index_from_before_versions_were_noted_is_the_first(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(house, 2)
    monkeypatch.setattr(upkeep, "ANALYZER_VERSION", 2)
    assert upkeep.follow_analyzer(house.rt) == ["main"]  # the other vault is empty
    assert upkeep.follow_analyzer(house.rt) == []
    with house.rt.store.read() as tx:
        assert tx.accounts.setting("main", upkeep.ANALYZER) == "2"


def house_filter(house: House) -> object:
    from dolmen.services.scoping import visible

    with house.rt.store.read() as tx:
        return visible(tx, house.owner, "*")


def test_two_cannot_reindex_at_once_and_agents_cannot_at_all(house: House) -> None:
    fill(house, 1)
    with house.rt.store.write() as tx:
        tx.leases.take("reindex:main", "somebody else", tx.now, tx.now + HOUR)
    with pytest.raises(DolmenError) as caught:
        upkeep.reindex(house.rt, house.owner)
    assert caught.value.code == "conflict"
    with pytest.raises(DolmenError) as caught:
        upkeep.reindex(house.rt, house.agent)
    assert caught.value.code == "forbidden"


def test_what_its_author_gave_an_end_is_retired_and_stays_as_history(house: House) -> None:
    ref = house.stored("The staging server is down today", ttl_seconds=3600)
    stays = house.stored("The staging server is in Seoul")
    house.clock.advance(2 * HOUR)
    assert upkeep.expire(house.rt) == 1
    assert upkeep.expire(house.rt) == 0
    with house.rt.store.read() as tx:
        memory = tx.memories.get("main", ref)
        assert memory is not None
        assert memory.status == "deleted"
        assert [revision.op for revision in tx.memories.revisions("main", ref)] == ["expire"]
    assert house.refs("staging server") == [stays]


def test_old_recall_events_go_unless_feedback_names_them(house: House) -> None:
    from dolmen.services.feedback import feedback

    house.stored("Deploys happen on Tuesday")
    events = [house.recall("deploys").event for _ in range(2)]
    house.rt.journal.flush()
    feedback(house.rt, house.agent, FeedbackRequest(event=events[0], relevant=True))
    house.clock.advance(91 * DAY)
    assert upkeep.trim(house.rt, 90) == 1
    assert house.rt.journal.find("main", str(events[0])) is not None
    assert house.rt.journal.find("main", str(events[1])) is None


def test_stats_count_duplicates_and_noise(house: House) -> None:
    """B155: the share of junk is visible."""
    house.stored("Deploys happen on Tuesday")
    house.stored("deploys happen on tuesday.", project="acme/shop")
    house.stored("ok")
    house.stored('{"claims": [{"ref": "x"}], "index_health": {}}')
    house.stored("You are Claude, a helpful assistant. Follow the rules below.")
    found = upkeep.stats(house.rt, house.owner)
    assert found["memories"]["total"] == 5
    assert found["memories"]["by_status"]["active"] == 5
    quality = found["quality"]
    assert (quality["checked"], quality["duplicates"], quality["duplicate_rate"]) == (5, 1, 0.2)
    assert quality["noise_by_reason"] == {"echo": 1, "machine": 1, "short": 1}
    assert quality["noise_rate"] == 0.6


def test_health_really_reads_the_store(house: House) -> None:
    found = upkeep.health(house.rt)
    assert found["status"] == ("degraded" if found["store"]["warnings"] else "ok")
    assert found["store"]["engine"] in ("sqlite", "postgres")
    house.rt.store.close()
    with pytest.raises(DolmenError) as caught:
        upkeep.health(house.rt)
    assert caught.value.code == "unavailable"


def test_the_newest_change_is_known(house: House) -> None:
    assert newest_change(house.rt)[1] is None
    house.stored("Deploys happen on Tuesday")
    now, newest = newest_change(house.rt)
    assert newest is not None
    assert newest <= now


def test_the_thread_warms_the_model_embeds_and_ends_when_told(house: House) -> None:
    """B202: the model is loaded by this thread, not by whoever starts it."""
    fill(house, 3)
    embedder = Counting()
    now = with_model(house, embedder)
    work = upkeep.Upkeep(now.rt)
    assert not embedder.warmed.is_set()
    work.start()
    work.start()
    assert embedder.warmed.wait(10)
    embedded = threading.Event()
    while not embedded.is_set():
        if covered(now) == (3, 3):
            embedded.set()
    work.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "dolmen-upkeep"]
    work.stop()


def test_a_thread_that_never_started_can_be_stopped(house: House) -> None:
    upkeep.Upkeep(house.rt).stop()


def test_a_thread_told_to_wait_ends_at_once(house: House) -> None:
    work = upkeep.Upkeep(house.rt)
    work.start(after=3600.0)
    work.stop(timeout=10.0)
    assert not [thread for thread in threading.enumerate() if thread.name == "dolmen-upkeep"]
