-- 0006 oauth: clients that ask to be let in, and the codes and tokens that they were given.
-- Secrets are kept as hashes. They are looked up before it is known whose they are, so their keys do not lead with the
-- vault. A grant is a connection: ending that ends its tokens.

CREATE TABLE oauth_client (
    id          TEXT PRIMARY KEY,
    origin      TEXT NOT NULL CHECK (origin IN ('registered', 'document')),
    name        TEXT NOT NULL,
    redirects   TEXT NOT NULL,
    method      TEXT NOT NULL CHECK (method IN ('none', 'private_key_jwt')),
    jwks_uri    TEXT NOT NULL,
    jwks        TEXT,
    scope       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    approved_at INTEGER
) WITHOUT ROWID;
CREATE INDEX oauth_client_unapproved ON oauth_client (created_at) WHERE approved_at IS NULL;

CREATE TABLE oauth_code (
    secret_hash   TEXT PRIMARY KEY,
    client_id     TEXT NOT NULL,
    redirect      TEXT NOT NULL,
    challenge     TEXT NOT NULL,
    vault_id      TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    resource      TEXT NOT NULL,
    scope         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    used_at       INTEGER,
    FOREIGN KEY (vault_id, connection_id) REFERENCES connection (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX oauth_code_end ON oauth_code (expires_at);

CREATE TABLE oauth_token (
    secret_hash   TEXT PRIMARY KEY,
    kind          TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
    client_id     TEXT NOT NULL,
    vault_id      TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    resource      TEXT NOT NULL,
    scope         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    used_at       INTEGER,
    FOREIGN KEY (vault_id, connection_id) REFERENCES connection (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX oauth_token_end ON oauth_token (expires_at);
CREATE INDEX oauth_token_connection ON oauth_token (vault_id, connection_id);

CREATE TABLE oauth_device (
    secret_hash   TEXT PRIMARY KEY,
    user_code     TEXT NOT NULL,
    client_id     TEXT NOT NULL,
    resource      TEXT NOT NULL,
    scope         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    decision      TEXT NOT NULL CHECK (decision IN ('waiting', 'allowed', 'denied', 'redeemed')),
    vault_id      TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    polled_at     INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX oauth_device_user_code ON oauth_device (user_code);
CREATE INDEX oauth_device_end ON oauth_device (expires_at);
