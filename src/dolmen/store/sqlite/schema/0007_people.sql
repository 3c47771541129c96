-- 0007 people: how persons prove who they are, and the browsers that they are signed in with.
-- Secrets are kept as hashes: Argon2id for passwords, which people choose, SHA-256 for those that are random.

ALTER TABLE person ADD COLUMN login TEXT;
CREATE UNIQUE INDEX person_login ON person (login) WHERE login IS NOT NULL;

-- `id` tells passkeys of a person apart; there is one password and one time-based code.
CREATE TABLE person_secret (
    vault_id   TEXT NOT NULL,
    person_id  TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('password', 'totp', 'passkey')),
    id         TEXT NOT NULL,
    data       TEXT NOT NULL,
    label      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER,
    PRIMARY KEY (vault_id, person_id, kind, id),
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX person_passkey ON person_secret (id) WHERE kind = 'passkey';

CREATE TABLE browser_session (
    secret_hash TEXT PRIMARY KEY,
    vault_id    TEXT NOT NULL,
    person_id   TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX browser_session_person ON browser_session (vault_id, person_id);

-- A link that lets somebody choose a password, once: the owner's first one, an invitation, a forgotten password.
CREATE TABLE entry_link (
    secret_hash TEXT PRIMARY KEY,
    vault_id    TEXT NOT NULL,
    person_id   TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER,
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX entry_link_person ON entry_link (vault_id, person_id);

-- Wrong guesses, by what they were about.
CREATE TABLE sign_in_failure (
    subject TEXT PRIMARY KEY,
    number  INTEGER NOT NULL,
    last_at INTEGER NOT NULL
) WITHOUT ROWID;
