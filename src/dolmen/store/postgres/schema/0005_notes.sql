-- 0005 notes: Markdown documents with an address. Their blocks are memories (`memory.note_id`, `memory.block`).

-- `blocks` is a JSON list: the ids of its blocks in their order. `note_reason` says why it was deleted.
CREATE TABLE note (
    vault_id      text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    version       bigint NOT NULL CHECK (version >= 1),
    address_key   text COLLATE "C" NOT NULL,
    name_key      text COLLATE "C" NOT NULL,
    title_key     text COLLATE "C" NOT NULL,
    scope_id      bigint NOT NULL,
    permalink     text COLLATE "C" NOT NULL,
    title         text COLLATE "C" NOT NULL,
    folder        text COLLATE "C" NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    label         text COLLATE "C" NOT NULL,
    path          text COLLATE "C" NOT NULL,
    status        text COLLATE "C" NOT NULL CHECK (status IN ('active', 'superseded', 'deleted')),
    note_reason   text COLLATE "C" NOT NULL,
    superseded_by text COLLATE "C" NOT NULL,
    agent         text COLLATE "C" NOT NULL,
    person        text COLLATE "C" NOT NULL,
    connection    text COLLATE "C" NOT NULL,
    session       text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL,
    blocks        text COLLATE "C" NOT NULL,
    source        text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, scope_id) REFERENCES scope (vault_id, id)
) PARTITION BY HASH (vault_id);
CREATE TABLE note_0 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE note_1 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE note_2 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE note_3 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE note_4 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE note_5 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE note_6 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE note_7 PARTITION OF note FOR VALUES WITH (MODULUS 8, REMAINDER 7);
-- An address names one note; a deleted one gives it free. The keys are the names without regard to case.
CREATE UNIQUE INDEX note_address ON note (vault_id, address_key) WHERE status <> 'deleted';
CREATE INDEX note_name ON note (vault_id, name_key);
CREATE INDEX note_title ON note (vault_id, title_key);
CREATE INDEX note_scope ON note (vault_id, scope_id, status, updated_at, id);

-- Addresses that notes had before they were moved: refs and links that name them still lead to the note.
CREATE TABLE note_alias (
    vault_id    text COLLATE "C" NOT NULL,
    address_key text COLLATE "C" NOT NULL,
    note_id     text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, address_key),
    FOREIGN KEY (vault_id, note_id) REFERENCES note (vault_id, id) ON DELETE CASCADE
);
CREATE INDEX note_alias_note ON note_alias (vault_id, note_id);

-- What a note was before each change, and the change.
CREATE TABLE note_revision (
    vault_id          text COLLATE "C" NOT NULL,
    id                text COLLATE "C" NOT NULL,
    version           bigint NOT NULL,
    at                bigint NOT NULL,
    op                text COLLATE "C" NOT NULL,
    change_agent      text COLLATE "C" NOT NULL,
    change_person     text COLLATE "C" NOT NULL,
    change_connection text COLLATE "C" NOT NULL,
    reason            text COLLATE "C" NOT NULL,
    scope_id      bigint NOT NULL,
    permalink     text COLLATE "C" NOT NULL,
    title         text COLLATE "C" NOT NULL,
    folder        text COLLATE "C" NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    label         text COLLATE "C" NOT NULL,
    path          text COLLATE "C" NOT NULL,
    status        text COLLATE "C" NOT NULL,
    note_reason   text COLLATE "C" NOT NULL,
    superseded_by text COLLATE "C" NOT NULL,
    agent         text COLLATE "C" NOT NULL,
    person        text COLLATE "C" NOT NULL,
    connection    text COLLATE "C" NOT NULL,
    session       text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL,
    blocks        text COLLATE "C" NOT NULL,
    source        text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id, version),
    FOREIGN KEY (vault_id, id) REFERENCES note (vault_id, id) ON DELETE CASCADE
) PARTITION BY HASH (vault_id);
CREATE TABLE note_revision_0 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE note_revision_1 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE note_revision_2 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE note_revision_3 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE note_revision_4 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE note_revision_5 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE note_revision_6 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE note_revision_7 PARTITION OF note_revision FOR VALUES WITH (MODULUS 8, REMAINDER 7);

-- A memory that is a block of a note: its text stands in the note's source, its id there is `block`.
ALTER TABLE memory ADD COLUMN note_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN block text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE revision ADD COLUMN note_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE revision ADD COLUMN block text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX memory_note ON memory (vault_id, note_id, block) WHERE note_id <> '';

-- Two notes may say the same; single memories still say a thing once per kind and scope (C-110).
DROP INDEX memory_statement;
CREATE UNIQUE INDEX memory_statement ON memory (vault_id, scope_id, label, kind, content_key)
    WHERE status IN ('proposed', 'active') AND note_id = '';

-- A proposal about a note names it.
ALTER TABLE proposal ADD COLUMN note_id text COLLATE "C";
CREATE INDEX proposal_note ON proposal (vault_id, note_id) WHERE note_id IS NOT NULL;
