"""Creating a note: always a new one, never over another (C-96 to C-99, C-107)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from dolmen.domain.access import decide, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import LINKS_LIMIT, TITLE_LIMIT
from dolmen.domain.note import (
    NOTE,
    Note,
    address,
    checked_permalink,
    derived,
    folder_of,
    kind_of,
    name_of,
    slug,
    slug_path,
    target_name,
)
from dolmen.domain.policy import Write
from dolmen.domain.values import Actor
from dolmen.markdown import Document, append, parse, read_properties, set_property
from dolmen.services import checking
from dolmen.services.bounds import require_room
from dolmen.services.indexing import Embedded
from dolmen.services.notes.drafting import Draft, draft_new, first_heading, first_line
from dolmen.services.notes.finding import Place, existing_note, find, no_note
from dolmen.services.notes.settling import kinds_of, settle, standing_of
from dolmen.services.notes.writing import source_text, vectors_of, within_limit, written
from dolmen.services.recording import audit, change, queue, refuse_secrets, revise, strings
from dolmen.services.requests.notes import NewNote, NoteWritten
from dolmen.services.requests.writing import NewLink
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import scope_for
from dolmen.services.sharing import audience_of_note, marked
from dolmen.store.contract import Tx

RELATES = "relates_to"
_BREAKS = re.compile(r"[\t\n\r]+")
_NUMBERS = 200


def create_note(rt: Runtime, actor: Actor, request: NewNote, *, dry_run: bool = False) -> NoteWritten:
    """Creates a note; each of its blocks that states something becomes a memory.

    Raises:
        DolmenError: `invalid-argument` without content; `too-large`; `secret-detected`; `conflict` when `permalink`
            names an address that another note has or had, or `id` a note that is here; `not-found` or `gone` for what
            it should supersede.
    """
    require(actor, "write")
    notes = checking.replacements(request)
    if request.path is None:
        request = replace(request, content=marked(actor, request.content))
    request = checked_note(request)
    draft = drafted(request)
    vectors = vectors_of(rt, draft)
    with rt.write(actor) as tx:
        if dry_run:
            note, _ = _addressed(tx, actor, request, draft)
            return replace(written("would", note), note=None, notes=notes)
        return replace(create_in(tx, actor, request, draft, vectors), notes=notes)


def checked_note(request: NewNote) -> NewNote:
    """The request as it will be kept: limits kept, no secrets.

    Raises:
        DolmenError: `invalid-argument`, `too-large` or `secret-detected`.
    """
    content = source_text(request.content)
    if not content.strip() and request.path is None:
        raise DolmenError("invalid-argument", "The content is empty.", "Write Markdown: at least one statement.")
    if len(request.links) > LINKS_LIMIT:
        raise DolmenError("too-large", f"{len(request.links)} links.", f"A note takes at most {LINKS_LIMIT} at once.")
    links = tuple(NewLink(checking.relation(each.rel or RELATES), _target(each.to)) for each in request.links)
    kept = replace(
        request,
        content=content,
        kind=checking.short_text(request.kind, "kind", 64),
        title=" ".join(checking.short_text(request.title, "title", TITLE_LIMIT).split()),
        folder=checking.folder_path(request.folder),
        permalink=checked_permalink(request.permalink) if request.permalink.strip() else "",
        links=links,
        supersedes=checking.refs(request.supersedes, "supersedes"),
        tags=checking.tag_names(request.tags),
    )
    refuse_secrets(*strings(replace(kept, content="")), content)
    return kept


def _target(name: str) -> str:
    target = target_name(checking.target(name).removeprefix("[[").removesuffix("]]"))
    if not target or any(sign in target for sign in "[]|\n"):
        raise DolmenError("invalid-argument", f"{name!r} is no link target.", "Use a permalink or a title.")
    return target


def create_in(
    tx: Tx,
    actor: Actor,
    request: NewNote,
    draft: Draft,
    vectors: Mapping[str, Embedded] | None = None,
    agreed: Mapping[str, Any] | None = None,
    audience: str | None = None,
) -> NoteWritten:
    """Creates a checked note in the caller's transaction, or queues it.

    Args:
        audience: who may see it, when that was decided before.
    """
    replaced = [_replaceable(tx, actor, ref) for ref in request.supersedes]
    _refuse_known(tx, actor, request)
    note, used = _addressed(tx, actor, request, draft, audience)
    draft = Draft(note, draft.statements, draft.reworded)
    older = [memory.kind for place in replaced for memory in standing_of(tx, place.note).values()]
    replaces = any(place.note.status == "active" for place in replaced)
    write = Write("replace" if replaces else "create", "free")
    decision, because = decide(actor, *kinds_of({}, draft), *older, write=write)
    if decision == "queue":
        given = {"note": payload(request), "replaces": [place.note.id for place in replaced]}
        kept = queue(tx, actor, "note_create", because, None, given, audience=note.audience)
        return written("proposed", note, proposal=kept.id, because=because, address_in_use=used)
    require_room(tx, actor, len(draft.statements))
    number = 1
    while not tx.notes.add(note):  # another process has just taken the address
        number += 1
        _refuse_known(tx, actor, request)
        if request.permalink or number > _NUMBERS:
            raise _taken(note.permalink, find(tx, actor, note.permalink))
        note, used = _addressed(tx, actor, request, draft, audience)
    draft = Draft(note, draft.statements, draft.reworded)
    done = settle(tx, actor, draft, {}, "create", vectors=vectors, agreed=agreed)
    for place in replaced:
        _supersede(tx, actor, place, note)
    audit(tx, actor, "note:create", note.id)  # its address may say what is purged one day
    gone = tuple(place.ref for place in replaced)
    return written("stored", note, done, superseded=gone, address_in_use=used)


def _replaceable(tx: Tx, actor: Actor, ref: str) -> Place:
    place = find(tx, actor, ref)
    if place is None:
        raise DolmenError(
            "not-found",
            no_note(ref).message,
            "Check `supersedes` with browse or recall; leave it out when nothing is there to replace.",
        )
    if place.block is not None:
        raise DolmenError(
            "invalid-argument",
            "`supersedes` takes a whole note, and the ref names a part of one.",
            f"Use {address(place.note.permalink)}, or mark the one claim with verify and state superseded.",
        )
    return existing_note(tx, actor, ref)


def drafted(request: NewNote) -> Draft:
    """The draft of a checked request; its note has neither id nor address yet."""
    source = request.content
    properties = read_properties(source)
    if request.path is not None:
        document = parse(source)
        title = properties.text("title") or title_of_file(request.path, document)
        return within_limit(draft_new(_blank(request, title), document))
    document = parse(source)
    title = request.title or properties.text("title") or first_heading(document) or first_line(document) or "Note"
    title = title[:TITLE_LIMIT]
    if request.title and title not in (properties.text("title"), first_heading(document)):
        source = set_property(source, "title", title)
    label = request.kind or properties.text("type") or NOTE
    if label != (properties.text("type") or NOTE):
        source = set_property(source, "type", label)
    if request.tags:
        known = properties.values.get("tags")
        tags = [str(tag).lstrip("#") for tag in known] if isinstance(known, list) else []
        source = set_property(source, "tags", list(dict.fromkeys((*tags, *request.tags))))
    lines = [f"- {link.rel} [[{link.to}]]" for link in request.links]
    lines += [f"- supersedes [[{target_name(ref)}]]" for ref in request.supersedes]
    document = parse(source)
    if lines:
        document = append(document, "\n".join(lines)).document
    return within_limit(draft_new(_blank(request, title), document))


def title_of_file(path: str, document: Document) -> str:
    """A file's title: its first heading when that is its name, else its name."""
    stem = _BREAKS.sub(" ", path.rpartition("/")[2].removesuffix(".md"))
    heading = first_heading(document)
    return heading if heading and slug(heading) == slug(stem) else stem[:TITLE_LIMIT] or "Note"


def _blank(request: NewNote, title: str) -> Note:
    label = request.kind or NOTE
    return Note(
        "", "", "", "", title, "", label=label, kind=kind_of(label, "fact"), path=request.path or "",
    )  # fmt: skip


def _addressed(
    tx: Tx, actor: Actor, request: NewNote, draft: Draft, audience: str | None = None
) -> tuple[Note, Mapping[str, str] | None]:
    """The note with its id, its author and an address that is free, and which note had the one it would have had."""
    note = draft.note
    wanted = request.permalink or _property_address(draft)
    used: Mapping[str, str] | None = None
    if request.permalink:
        if there := _holder(tx, actor, wanted):
            raise _taken(wanted, there)
        permalink = wanted
    else:
        folder = folder_of(wanted) if wanted else slug_path(_folder(request))
        base = name_of(wanted) if wanted else _name(request, note)
        permalink, first = _free(tx, actor, base, folder)
        if first is not None:
            used = _in_use(first, permalink)
    made = tx.now if request.created_at is None else min(request.created_at, tx.now)
    return note.with_(
        id=request.id or tx.new_id(),
        vault=actor.vault,
        scope=scope_for(tx, actor, request.project),
        audience=audience_of_note(tx, actor, note.source) if audience is None else audience,
        permalink=permalink,
        agent=actor.agent,
        person=actor.person,
        connection=actor.connection,
        session=request.session or actor.session or "",
        created_at=made,
        updated_at=tx.now,
    ), used  # fmt: skip


def _refuse_known(tx: Tx, actor: Actor, request: NewNote) -> None:
    if request.id is not None and tx.notes.get(actor.vault, request.id) is not None:
        raise DolmenError("conflict", f"The note {request.id} is here already.", "Change that note instead.")
    if request.id is not None and tx.memories.get(actor.vault, request.id) is not None:
        raise DolmenError("conflict", f"{request.id} is a memory.", "Leave the line out of .dolmen/notes.jsonl.")


def _property_address(draft: Draft) -> str:
    """An address that the Markdown brings along in its `permalink` property, as other tools write it."""
    given = read_properties(draft.note.source).text("permalink")
    try:
        return checked_permalink(given) if given else ""
    except DolmenError:
        return ""


def _folder(request: NewNote) -> str:
    return folder_of(request.path) if request.path is not None else request.folder


def _name(request: NewNote, note: Note) -> str:
    return name_of(request.path).removesuffix(".md") if request.path is not None else note.title


def free_address(tx: Tx, actor: Actor, name: str, folder: str, *, but: str) -> str:
    """The first address of that name which no live note has or had but this one."""
    return _free(tx, actor, name, folder, but)[0]


def _free(tx: Tx, actor: Actor, name: str, folder: str, but: str = "") -> tuple[str, Place | None]:
    first: Place | None = None
    for number in range(1, _NUMBERS):
        permalink = derived(name, folder, number)
        there = _holder(tx, actor, permalink)
        if there is None or there.note.id == but:
            return permalink, first
        first = first or there
    return f"{derived(name, folder)}-{tx.new_id()[-12:]}", first


def _holder(tx: Tx, actor: Actor, permalink: str) -> Place | None:
    """The live note that has the address, or had it before it was moved."""
    there = find(tx, actor, permalink)
    return None if there is None or there.note.status == "deleted" else there


def _taken(permalink: str, there: Place | None) -> DolmenError:
    more = {} if there is None else {"ref": address(there.note.permalink), "title": there.note.title}
    return DolmenError(
        "conflict",
        f"Another note has the address {permalink!r}.",
        "Choose another permalink, or leave it out; to add to that note, call edit with op append.",
        **more,
    )


def _in_use(there: Place, permalink: str) -> Mapping[str, str]:
    ref = address(there.note.permalink)
    return {
        "ref": ref,
        "title": there.note.title,
        "suggestion": f"A note already exists at {ref}, so this one is addressed {permalink} instead. To add to the "
        f"existing note rather than keep two, call edit with ref {ref} and op append.",
    }


def _supersede(tx: Tx, actor: Actor, place: Place, by: Note) -> None:
    """The old note stays readable; none of its claims is served as current any more (C-96)."""
    before = place.note
    after = before.with_(status="superseded", superseded_by=by.id, version=before.version + 1, updated_at=tx.now)
    tx.notes.update(before, after, change(tx, actor, "supersede", f"replaced by {by.permalink}"))
    for memory in standing_of(tx, before).values():
        if memory.status == "active":
            revise(tx, actor, memory, "supersede", f"replaced by {by.permalink}", status="superseded")


def payload(request: NewNote) -> dict[str, Any]:
    """A request as JSON, for a proposal."""
    return asdict(request)


def from_payload(given: Mapping[str, Any]) -> NewNote:
    fields = dict(given)
    fields["links"] = tuple(NewLink(**link) for link in fields.get("links", ()))
    for name in ("supersedes", "tags"):
        fields[name] = tuple(fields.get(name, ()))
    return NewNote(**fields)
