-- 0007 people: how persons prove who they are, and the browsers that they are signed in with.
-- Secrets are kept as hashes: Argon2id for passwords, which people choose, SHA-256 for those that are random.

ALTER TABLE person ADD COLUMN login text COLLATE "C";
CREATE UNIQUE INDEX person_login ON person (login) WHERE login IS NOT NULL;

-- `id` tells passkeys of a person apart; there is one password and one time-based code.
CREATE TABLE person_secret (
    vault_id   text COLLATE "C" NOT NULL,
    person_id  text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('password', 'totp', 'passkey')),
    id         text COLLATE "C" NOT NULL,
    data       text COLLATE "C" NOT NULL,
    label      text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    used_at    bigint,
    PRIMARY KEY (vault_id, person_id, kind, id),
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
);
CREATE UNIQUE INDEX person_passkey ON person_secret (id) WHERE kind = 'passkey';

CREATE TABLE browser_session (
    secret_hash text COLLATE "C" PRIMARY KEY,
    vault_id    text COLLATE "C" NOT NULL,
    person_id   text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    seen_at     bigint NOT NULL,
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
);
CREATE INDEX browser_session_person ON browser_session (vault_id, person_id);

-- A link that lets somebody choose a password, once: the owner's first one, an invitation, a forgotten password.
CREATE TABLE entry_link (
    secret_hash text COLLATE "C" PRIMARY KEY,
    vault_id    text COLLATE "C" NOT NULL,
    person_id   text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    expires_at  bigint NOT NULL,
    used_at     bigint,
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
);
CREATE INDEX entry_link_person ON entry_link (vault_id, person_id);

-- Wrong guesses, by what they were about.
CREATE TABLE sign_in_failure (
    subject text COLLATE "C" PRIMARY KEY,
    number  bigint NOT NULL,
    last_at bigint NOT NULL
);
