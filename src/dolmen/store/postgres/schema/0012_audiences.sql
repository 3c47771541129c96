-- 0012 audiences: what not everybody of a vault may see, keys that are kept apart, and people in several vaults.

-- A scope's memories are kept apart by who may see them: each audience of a name is a scope of its own in the index.
ALTER TABLE scope ADD COLUMN audience text COLLATE "C" NOT NULL DEFAULT '';
DROP INDEX scope_name;
CREATE UNIQUE INDEX scope_name ON scope (vault_id, name, audience);

-- An address names one note of an audience, so that nobody learns of a note by an address that is taken.
ALTER TABLE note ADD COLUMN audience text COLLATE "C" NOT NULL DEFAULT '';
DROP INDEX note_address;
CREATE UNIQUE INDEX note_address ON note (vault_id, address_key, audience) WHERE status <> 'deleted';

ALTER TABLE note_alias ADD COLUMN audience text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE note_alias DROP CONSTRAINT note_alias_pkey;
ALTER TABLE note_alias ADD PRIMARY KEY (vault_id, address_key, audience);

ALTER TABLE proposal ADD COLUMN audience text COLLATE "C" NOT NULL DEFAULT '';

-- `apart`: it sees what it and the keys of its groups wrote, and nothing else. `private`: what it writes is its person's.
ALTER TABLE connection ADD COLUMN apart bigint NOT NULL DEFAULT 0 CHECK (apart IN (0, 1));
ALTER TABLE connection ADD COLUMN private bigint NOT NULL DEFAULT 0 CHECK (private IN (0, 1));
ALTER TABLE connection ADD COLUMN preset text COLLATE "C" NOT NULL DEFAULT '';

CREATE TABLE key_group (
    vault_id   text COLLATE "C" NOT NULL REFERENCES vault (id),
    id         text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (vault_id, id)
);
CREATE UNIQUE INDEX key_group_name ON key_group (vault_id, name);

CREATE TABLE key_group_member (
    vault_id      text COLLATE "C" NOT NULL,
    group_id      text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, group_id, connection_id),
    FOREIGN KEY (vault_id, group_id) REFERENCES key_group (vault_id, id) ON DELETE CASCADE,
    FOREIGN KEY (vault_id, connection_id) REFERENCES connection (vault_id, id) ON DELETE CASCADE
);
CREATE INDEX key_group_member_connection ON key_group_member (vault_id, connection_id);

-- A person has the same id in each of their vaults; they sign in with the row that has the login.
CREATE INDEX person_vaults ON person (id) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX vault_name ON vault (name);
