-- 0005 notes: Markdown documents with an address. Their blocks are memories (`memory.note_id`, `memory.block`).

-- `blocks` is a JSON list: the ids of its blocks in their order. `note_reason` says why it was deleted.
CREATE TABLE note (
    vault_id      TEXT NOT NULL,
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL CHECK (version >= 1),
    address_key   TEXT NOT NULL,
    name_key      TEXT NOT NULL,
    title_key     TEXT NOT NULL,
    scope_id      INTEGER NOT NULL REFERENCES scope (id),
    permalink     TEXT NOT NULL,
    title         TEXT NOT NULL,
    folder        TEXT NOT NULL,
    kind          TEXT NOT NULL,
    label         TEXT NOT NULL,
    path          TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'deleted')),
    note_reason   TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    agent         TEXT NOT NULL,
    person        TEXT NOT NULL,
    connection    TEXT NOT NULL,
    session       TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    blocks        TEXT NOT NULL,
    source        TEXT NOT NULL,
    PRIMARY KEY (vault_id, id)
);
-- An address names one note; a deleted one gives it free. The keys are the names without regard to case.
CREATE UNIQUE INDEX note_address ON note (vault_id, address_key) WHERE status <> 'deleted';
CREATE INDEX note_name ON note (vault_id, name_key);
CREATE INDEX note_title ON note (vault_id, title_key);
CREATE INDEX note_scope ON note (vault_id, scope_id, status, updated_at, id);

-- Addresses that notes had before they were moved: refs and links that name them still lead to the note.
CREATE TABLE note_alias (
    vault_id    TEXT NOT NULL,
    address_key TEXT NOT NULL,
    note_id     TEXT NOT NULL,
    PRIMARY KEY (vault_id, address_key)
) WITHOUT ROWID;
CREATE INDEX note_alias_note ON note_alias (vault_id, note_id);

-- What a note was before each change, and the change.
CREATE TABLE note_revision (
    vault_id          TEXT NOT NULL,
    id                TEXT NOT NULL,
    version           INTEGER NOT NULL,
    at                INTEGER NOT NULL,
    op                TEXT NOT NULL,
    change_agent      TEXT NOT NULL,
    change_person     TEXT NOT NULL,
    change_connection TEXT NOT NULL,
    reason            TEXT NOT NULL,
    scope_id      INTEGER NOT NULL REFERENCES scope (id),
    permalink     TEXT NOT NULL,
    title         TEXT NOT NULL,
    folder        TEXT NOT NULL,
    kind          TEXT NOT NULL,
    label         TEXT NOT NULL,
    path          TEXT NOT NULL,
    status        TEXT NOT NULL,
    note_reason   TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    agent         TEXT NOT NULL,
    person        TEXT NOT NULL,
    connection    TEXT NOT NULL,
    session       TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    blocks        TEXT NOT NULL,
    source        TEXT NOT NULL,
    PRIMARY KEY (vault_id, id, version)
);

-- A memory that is a block of a note: its text stands in the note's source, its id there is `block`.
ALTER TABLE memory ADD COLUMN note_id TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN block TEXT NOT NULL DEFAULT '';
ALTER TABLE revision ADD COLUMN note_id TEXT NOT NULL DEFAULT '';
ALTER TABLE revision ADD COLUMN block TEXT NOT NULL DEFAULT '';
CREATE INDEX memory_note ON memory (vault_id, note_id, block) WHERE note_id <> '';

-- Two notes may say the same; single memories still say a thing once per kind and scope (C-110).
DROP INDEX memory_statement;
CREATE UNIQUE INDEX memory_statement ON memory (vault_id, scope_id, label, kind, content_key)
    WHERE status IN ('proposed', 'active') AND note_id = '';

-- A proposal about a note names it.
ALTER TABLE proposal ADD COLUMN note_id TEXT;
CREATE INDEX proposal_note ON proposal (vault_id, note_id) WHERE note_id IS NOT NULL;
