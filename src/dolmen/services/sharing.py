"""Who will see what is written, and changing that: `open` for all of the vault, `private` for named people (C-46).

A person decides that more people see something; an agent may only keep to fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dolmen.domain.access import require
from dolmen.domain.audience import (
    OPEN,
    VISIBILITIES,
    Visibility,
    key_of,
    of_persons,
    persons_of,
    visibility_of,
    written_by,
)
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.note import Note
from dolmen.domain.values import Actor
from dolmen.markdown import read_properties, set_property
from dolmen.services.recording import audit, reason_text, revise, sha
from dolmen.services.requests import Edited, NewMemory
from dolmen.services.scoping import existing, refuse_block
from dolmen.store.contract import Tx

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

PROPERTY, SHARED = "visibility", "shared_with"
"""The properties of a note that say it."""


def audience_of_new(tx: Tx, actor: Actor, item: NewMemory, replaced: Sequence[Memory]) -> str:
    """Who will see a new memory: as it is asked for, else whoever saw what it replaces, else as the connection says.

    Raises:
        DolmenError: `invalid-argument`, `not-found` for a person; `conflict` when it replaces what others see.
    """
    if actor.keys:
        if item.visibility == "open":
            raise _kept_apart()
        return written_by(actor)
    if item.visibility is not None:
        audience = _asked(tx, actor, item.visibility, item.shared_with)
    else:
        audience = replaced[0].audience if replaced else written_by(actor)
    for old in replaced:
        if old.audience != audience:
            raise DolmenError(
                "conflict",
                f"Memory {old.id} is {visibility_of(old.audience)} and seen by other people than the new one would be.",
                "A memory replaces one that the same people see: change who sees the old one first.",
            )
    return audience


def audience_of_note(tx: Tx, actor: Actor, source: str) -> str:
    """Who will see a new note: as its properties say, else as the connection says.

    Raises:
        DolmenError: `invalid-argument`, `not-found` for a person.
    """
    said = _said(source)
    if actor.keys:
        if said[0] == "open":
            raise _kept_apart()
        return written_by(actor)
    return written_by(actor) if said[0] is None else _asked(tx, actor, *said)


def audience_of_change(tx: Tx, actor: Actor, before: Note, after: Note) -> str:
    """Who will see a note after a change. As long as its properties say of it what they said, nothing changes, and
    nothing does when they say nothing any more.

    Raises:
        DolmenError: `forbidden` for an agent that would show it to more people, and for who may not decide about it.
    """
    said = _said(after.source)
    if said[0] is None or said == _said(before.source):
        return before.audience
    return _changed(tx, actor, before.audience, before.person, *said)


def marked(actor: Actor, source: str) -> str:
    """The source of a new note, saying that it is private when its connection writes so: a file of it then keeps that.
    A front matter that cannot be read stays as it is."""
    if not actor.private or actor.keys or not actor.person or PROPERTY in read_properties(source).values:
        return source
    try:
        return set_property(source, PROPERTY, "private")
    except DolmenError:
        return source


def audience_here(tx: Tx, actor: Actor, audience: str) -> str:
    """The audience of something imported: those of its people who are in this vault, else who imports it. What was
    private never becomes open by that."""
    if audience == OPEN or key_of(audience):
        return audience
    here = {person.id for person in tx.people.all(actor.vault) if person.removed_at is None}
    known = here.intersection(persons_of(audience))
    return of_persons(known or {actor.person})


def share(
    rt: Runtime, actor: Actor, ref: str, visibility: Visibility, shared_with: Sequence[str] = (), reason: str = ""
) -> Edited:
    """Changes who sees a memory.

    Args:
        shared_with: further people who see a private one, by name, login or id. Its author always does.

    Raises:
        DolmenError: `not-found`; `conflict` for a block of a note, and when the same statement is there already;
            `forbidden` for who may not decide about it; `read-only`.
    """
    require(actor, "write")
    reason = reason_text(reason)
    with rt.write(actor) as tx:
        memory = existing(tx, actor, ref)
        refuse_block(tx, memory)
        audience = _changed(tx, actor, memory.audience, memory.person, visibility, tuple(shared_with))
        if audience == memory.audience:
            return Edited("unchanged", memory.id, memory.version, sha(memory), memory=memory)
        after = revise(tx, actor, memory, "share", reason, audience=audience)
        audit(tx, actor, "share", memory.id)
        return Edited("updated", after.id, after.version, sha(after), memory=after)


def _changed(
    tx: Tx, actor: Actor, before: str, author: str, visibility: Visibility | None, shared_with: Sequence[str]
) -> str:
    if actor.keys:
        raise _kept_apart()
    if actor.mode == "suggest":
        raise DolmenError("forbidden", "A connection that only suggests does not decide who sees things.", _ASK)
    if visibility == "open":
        after = OPEN
    else:
        after = of_persons({*_asked_people(tx, actor, shared_with), *_here(tx, actor, author), actor.person})
    if after == before:
        return before
    if actor.person != author and not (actor.human and actor.mode == "admin"):
        raise DolmenError("forbidden", "Only its author and the owner of the vault decide who sees it.", _ASK)
    wider = after == OPEN or (before != OPEN and not set(persons_of(after)) <= set(persons_of(before)))
    if wider and not actor.human:
        raise DolmenError("forbidden", "Only a person shows something private to more people.", _ASK)
    return after


_ASK = "Leave it to its author: `dolmen memory open`, `dolmen note open`, or the same with `private --with NAME`."


def _asked(tx: Tx, actor: Actor, visibility: Visibility | None, shared_with: Sequence[str]) -> str:
    if visibility == "open":
        if shared_with:
            raise DolmenError("invalid-argument", "What is open is shared with everybody.", "Leave out the names.")
        return OPEN
    if not actor.person:
        raise DolmenError("invalid-argument", "Something private needs a person whose it is.", "Leave it open.")
    return of_persons({actor.person, *_asked_people(tx, actor, shared_with)})


def _asked_people(tx: Tx, actor: Actor, names: Sequence[str]) -> set[str]:
    """The people of the vault with these names, logins or ids."""
    here = [person for person in tx.people.all(actor.vault) if person.removed_at is None] if names else []
    found: set[str] = set()
    for name in names:
        wanted = name.strip().casefold()
        fitting = [p.id for p in here if wanted in (p.id, (p.login or "").casefold(), p.name.casefold()) and wanted]
        if len(fitting) != 1:
            what = "Several people are" if fitting else "Nobody is"
            then = "name a login or an id." if fitting else "`dolmen person invite NAME` invites somebody."
            fix = f"`dolmen person list` shows everybody; {then}"
            raise DolmenError("not-found", f"{what} called {name!r} in this vault.", fix)
        found.add(fitting[0])
    return found


def _here(tx: Tx, actor: Actor, person: str) -> set[str]:
    known = tx.people.get(actor.vault, person) if person else None
    return {person} if known is not None and known.removed_at is None else set()


def _said(source: str) -> tuple[Visibility | None, tuple[str, ...]]:
    """What a note's properties say of who sees it."""
    properties = read_properties(source)
    if PROPERTY not in properties.values:
        return None, ()
    word = properties.text(PROPERTY).strip().lower()
    visibility = next((each for each in VISIBILITIES if each == word), None)
    if visibility is None:
        raise DolmenError(
            "invalid-argument", f"The note's visibility {word[:40]!r} is unknown.", "Write `open` or `private`."
        )
    names = properties.values.get(SHARED)
    listed = names if isinstance(names, list) else [names] if names else []
    return visibility, tuple(str(name) for name in listed) if visibility == "private" else ()


def _kept_apart() -> DolmenError:
    return DolmenError(
        "forbidden",
        "This key is kept apart: only it and the keys of its groups see what it writes.",
        "Leave the visibility out; the owner can open a memory.",
    )
