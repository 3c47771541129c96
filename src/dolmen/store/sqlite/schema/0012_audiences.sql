-- 0012 audiences: what not everybody of a vault may see, keys that are kept apart, and people in several vaults.

-- A scope's memories are kept apart by who may see them: each audience of a name is a scope of its own in the index.
ALTER TABLE scope ADD COLUMN audience TEXT NOT NULL DEFAULT '';
DROP INDEX scope_name;
CREATE UNIQUE INDEX scope_name ON scope (vault_id, name, audience);

-- An address names one note of an audience, so that nobody learns of a note by an address that is taken.
ALTER TABLE note ADD COLUMN audience TEXT NOT NULL DEFAULT '';
DROP INDEX note_address;
CREATE UNIQUE INDEX note_address ON note (vault_id, address_key, audience) WHERE status <> 'deleted';

CREATE TABLE note_former (
    vault_id    TEXT NOT NULL,
    address_key TEXT NOT NULL,
    audience    TEXT NOT NULL DEFAULT '',
    note_id     TEXT NOT NULL,
    PRIMARY KEY (vault_id, address_key, audience)
) WITHOUT ROWID;
INSERT INTO note_former (vault_id, address_key, note_id) SELECT vault_id, address_key, note_id FROM note_alias;
DROP TABLE note_alias;
ALTER TABLE note_former RENAME TO note_alias;
CREATE INDEX note_alias_note ON note_alias (vault_id, note_id);

ALTER TABLE proposal ADD COLUMN audience TEXT NOT NULL DEFAULT '';

-- `apart`: it sees what it and the keys of its groups wrote, and nothing else. `private`: what it writes is its person's.
ALTER TABLE connection ADD COLUMN apart INTEGER NOT NULL DEFAULT 0 CHECK (apart IN (0, 1));
ALTER TABLE connection ADD COLUMN private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1));
ALTER TABLE connection ADD COLUMN preset TEXT NOT NULL DEFAULT '';

CREATE TABLE key_group (
    vault_id   TEXT NOT NULL REFERENCES vault (id),
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX key_group_name ON key_group (vault_id, name);

CREATE TABLE key_group_member (
    vault_id      TEXT NOT NULL,
    group_id      TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    PRIMARY KEY (vault_id, group_id, connection_id),
    FOREIGN KEY (vault_id, group_id) REFERENCES key_group (vault_id, id) ON DELETE CASCADE,
    FOREIGN KEY (vault_id, connection_id) REFERENCES connection (vault_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX key_group_member_connection ON key_group_member (vault_id, connection_id);

-- A person has the same id in each of their vaults; they sign in with the row that has the login.
CREATE INDEX person_vaults ON person (id) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX vault_name ON vault (name);
