"""A memory's life, step by step at random, compared with a model in plain Python that keeps every state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import KINDS, STATUSES, Memory, Revision
from dolmen.domain.text import analyze, content_key
from dolmen.domain.values import SECOND
from dolmen.store.contract import Filter, Store
from dolmen.store.ids import rising
from dolmen.store.opening import open_store
from tests.contract.given import Clock, add, by, change

WORDS = ("heron", "stork", "reed", "nest")
SCOPES = ("user", "project:a", "project:b", "project:c")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
ACTIVE = ("active", "proposed")


@dataclass
class Lives:
    """The model: what is, and what was."""

    now: dict[str, Memory] = field(default_factory=dict)
    past: dict[str, list[Revision]] = field(default_factory=dict)
    alias: dict[str, str] = field(default_factory=dict)

    def copy_of(self, memory: Memory) -> Memory | None:
        key = _statement(memory)
        for other in self.now.values():
            if other.id != memory.id and other.status in ACTIVE and _statement(other) == key:
                return other
        return None

    def at(self, id: str, time: int) -> Memory | None:
        """The state from before the first change after that time."""
        memory = self.now[id]
        later = [revision for revision in self.past[id] if revision.at > time]
        state = later[0].memory if later else memory
        return state if state.created_at <= time else None

    def seen(self, filter: Filter) -> set[str]:
        found = set()
        for id in self.now:
            state = self.now[id] if filter.as_of is None else self.at(id, filter.as_of)
            if state is not None and self._passes(state, filter):
                found.add(id)
        return found

    def _passes(self, state: Memory, filter: Filter) -> bool:
        when = filter.now if filter.as_of is None else filter.as_of
        scopes = None if filter.scopes is None else {self.alias.get(name, name) for name in filter.scopes}
        return (
            state.vault == filter.vault
            and (scopes is None or state.scope in scopes)
            and state.status in filter.statuses
            and (not filter.kinds or state.kind in filter.kinds)
            and set(filter.tags) <= set(state.tags)
            and (filter.include_expired or state.expires_at is None or state.expires_at > when)
        )


def _statement(memory: Memory) -> tuple[str, str, str, str, str]:
    return (memory.vault, memory.scope, memory.label, memory.kind, content_key(memory.text))


class Life(RuleBasedStateMachine):
    """One store, one model; every rule does the same to both."""

    store: Store
    clock: Clock
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Life.runs += 1
        self.vault, self.other = f"v{Life.runs}", f"w{Life.runs}"
        self.lives = Lives()
        self.times = [self.clock.now]
        with self.store.write() as tx:
            for vault in (self.vault, self.other):
                tx.accounts.add_vault(vault, vault, "o", "Ada")

    def ids(self) -> list[str]:
        return list(self.lives.now)

    @rule(seconds=st.integers(0, 3))
    def time_passes(self, seconds: int) -> None:
        self.times.append(self.clock.pass_(seconds))

    @rule(
        text=TEXTS,
        scope=st.sampled_from(SCOPES),
        kind=st.sampled_from(KINDS[:3]),
        status=st.sampled_from(ACTIVE),
        tags=st.lists(st.sampled_from("ab"), unique=True).map(tuple),
        expires=st.none() | st.integers(1, 4),
        mine=st.booleans(),
    )
    def remember(
        self, text: str, scope: str, kind: str, status: str, tags: tuple[str, ...], expires: int | None, mine: bool
    ) -> None:
        with self.store.write() as tx:
            memory = Memory(
                id=tx.new_id(),
                vault=self.vault if mine else self.other,
                scope=scope,
                kind=kind,  # type: ignore[arg-type]
                text=text,
                status=status,  # type: ignore[arg-type]
                tags=tags,
                created_at=tx.now,
                updated_at=tx.now,
                expires_at=None if expires is None else tx.now + expires * SECOND,
            )
            stored = memory.with_(scope=self.lives.alias.get(scope, scope) if mine else scope)
            added = add(tx, memory)
        assert added == (self.lives.copy_of(stored) is None)
        if added:
            self.lives.now[memory.id], self.lives.past[memory.id] = stored, []

    @precondition(lambda self: self.lives.now)
    @rule(
        data=st.data(),
        fields=st.fixed_dictionaries(
            {},
            optional={
                "text": TEXTS,
                "status": st.sampled_from(STATUSES),
                "scope": st.sampled_from(SCOPES),
                "kind": st.sampled_from(KINDS[:3]),
                "tags": st.lists(st.sampled_from("ab"), unique=True).map(tuple),
                "expires_at": st.none(),
            },
        ),
    )
    def edit(self, data: st.DataObject, fields: dict[str, object]) -> None:
        before = self.lives.now[data.draw(st.sampled_from(self.ids()))]
        if "scope" in fields and before.vault == self.vault:
            fields["scope"] = self.lives.alias.get(str(fields["scope"]), fields["scope"])
        after = before.with_(version=before.version + 1, updated_at=self.clock.now, **fields)
        twin = self.lives.copy_of(after) if after.status in ACTIVE else None
        if twin is not None:
            with pytest.raises(DolmenError) as refused, self.store.write() as tx:
                change(tx, before, **fields)
            assert refused.value.code == "conflict"
            return
        with self.store.write() as tx:
            change(tx, before, **fields)
        self.lives.past[before.id].append(_revision(before, self.clock.now))
        self.lives.now[before.id] = after

    @precondition(lambda self: any(self.lives.past.values()))
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from([id for id, past in self.lives.past.items() if past]))
        then, now = self.lives.past[id][-1].memory, self.lives.now[id]
        self.edit_to(now, then.with_(version=now.version + 1, updated_at=self.clock.now))

    def edit_to(self, before: Memory, after: Memory) -> None:
        if after.status in ACTIVE and self.lives.copy_of(after) is not None:
            return
        with self.store.write() as tx:
            change(tx, before, **{name: getattr(after, name) for name in ("text", "status", "scope", "kind", "tags")})
        fields = {name: getattr(after, name) for name in ("text", "status", "scope", "kind", "tags")}
        self.lives.past[before.id].append(_revision(before, self.clock.now))
        self.lives.now[before.id] = before.with_(version=before.version + 1, updated_at=self.clock.now, **fields)

    @precondition(lambda self: self.lives.now)
    @rule(data=st.data())
    def purge(self, data: st.DataObject) -> None:
        memory = self.lives.now[data.draw(st.sampled_from(self.ids()))]
        with self.store.write() as tx:
            tx.memories.purge(memory.vault, [memory.id])
        del self.lives.now[memory.id], self.lives.past[memory.id]

    @rule(old=st.sampled_from(SCOPES[1:]), new=st.sampled_from(SCOPES[1:]))
    def rename(self, old: str, new: str) -> None:
        lives = self.lives
        if old == new or old in lives.alias or lives.alias.get(new) == old:
            return  # these have tests of their own
        target = lives.alias.get(new, new)
        with self.store.write() as tx:
            moved = tx.scopes.alias(self.vault, old, new)
        mine = [m for m in lives.now.values() if m.vault == self.vault and m.scope == old]
        assert moved == len(mine)
        for memory in mine:
            after = memory.with_(scope=target)
            twin = lives.copy_of(after) if memory.status in ACTIVE else None
            if twin is not None:
                lives.past[memory.id].append(_revision(memory, self.clock.now, "alias", "dolmen", "", "local"))
                after = after.with_(
                    status="superseded", superseded_by=twin.id, version=memory.version + 1, updated_at=self.clock.now
                )
            lives.now[memory.id] = after
        for id, past in lives.past.items():
            if lives.now[id].vault == self.vault:
                lives.past[id] = [_moved(revision, old, target) for revision in past]
        lives.alias = {name: target if goal == old else goal for name, goal in lives.alias.items()} | {old: target}

    # ------------------------------------------------------------------------------------------------------- laws
    @invariant()
    def every_state_and_history_is_as_in_the_model(self) -> None:
        with self.store.read() as tx:
            for vault in (self.vault, self.other):
                mine = {id: memory for id, memory in self.lives.now.items() if memory.vault == vault}
                assert {memory.id: memory for memory in tx.memories.stream(vault)} == mine
                assert tx.memories.many(vault, self.ids()) == mine
            for id, past in self.lives.past.items():
                stored = tx.memories.revisions(self.lives.now[id].vault, id)
                assert [(r.memory, r.at, r.op) for r in stored] == [(r.memory, r.at, r.op) for r in past]

    @invariant()
    def the_past_is_as_in_the_model(self) -> None:
        with self.store.read() as tx:
            for time in self.times[-3:]:
                right = {id: state for id in self.ids() if (state := self.lives.at(id, time)) is not None}
                for vault in (self.vault, self.other):
                    mine = {id: state for id, state in right.items() if state.vault == vault}
                    assert tx.memories.at(vault, self.ids(), time) == mine
                for status in STATUSES:
                    sight = Filter(self.vault, None, self.clock.now, (status,), as_of=time, include_expired=True)
                    assert {memory.id for memory in tx.memories.select(sight, limit=999)} == self.lives.seen(sight)

    @rule(
        scopes=st.none() | st.lists(st.sampled_from(SCOPES), max_size=3).map(tuple),
        statuses=st.lists(st.sampled_from(STATUSES), min_size=1, unique=True).map(tuple),
        kinds=st.lists(st.sampled_from(KINDS[:3]), max_size=2, unique=True).map(tuple),
        tags=st.lists(st.sampled_from("ab"), unique=True).map(tuple),
        expired=st.booleans(),
        data=st.data(),
        word=st.sampled_from(WORDS),
    )
    def look(  # type: ignore[no-untyped-def]
        self, scopes, statuses, kinds, tags, expired, data, word
    ) -> None:
        """Listing, counting and searching see exactly what the model says."""
        as_of = data.draw(st.none() | st.sampled_from(self.times))
        sight = Filter(
            vault=self.vault,
            scopes=scopes,
            now=self.clock.now,
            statuses=statuses,
            kinds=kinds,
            tags=tags,
            as_of=as_of,
            include_expired=expired,
        )
        right = self.lives.seen(sight)
        with self.store.read() as tx:
            assert {memory.id for memory in tx.memories.select(sight, limit=999)} == right
            assert tx.memories.count(sight)[""] == len(right)
            found = {hit.memory for hit in tx.index.match(sight, analyze(word), 999)}
        states = [self.lives.now[id] if as_of is None else self.lives.at(id, as_of) for id in right]
        assert found == {state.id for state in states if state is not None and word in state.text.split(" ")}


def _revision(memory: Memory, at: int, op: str = "amend", *who: str) -> Revision:
    made = by(at, op)
    agent, person, connection = who or (made.agent, made.person, made.connection)
    return Revision(memory, at, op, agent, person, connection, made.reason)


def _moved(revision: Revision, old: str, new: str) -> Revision:
    if revision.memory.scope != old:
        return revision
    return Revision(
        revision.memory.with_(scope=new),
        revision.at,
        revision.op,
        revision.agent,
        revision.person,
        revision.connection,
        revision.reason,
    )


@pytest.fixture
def life(engine_url: str) -> Iterator[type[Life]]:
    clock = Clock()
    store = open_store(engine_url, clock, rising(clock))
    yield type("LifeOfOneStore", (Life,), {"store": store, "clock": clock})
    store.close()


@pytest.mark.parametrize("lives", [4, pytest.param(25, marks=pytest.mark.slow)])
def test_a_memorys_life_is_what_the_model_says(life: type[Life], lives: int) -> None:
    """DESIGN rules 1 and 2."""
    run_state_machine_as_test(life, settings=settings(max_examples=lives, stateful_step_count=25, deadline=None))  # type: ignore[no-untyped-call]
