-- 0006 oauth: clients that ask to be let in, and the codes and tokens that they were given.
-- Secrets are kept as hashes. They are looked up before it is known whose they are, so their keys do not lead with the
-- vault. A grant is a connection: ending that ends its tokens.

CREATE TABLE oauth_client (
    id          text COLLATE "C" PRIMARY KEY,
    origin      text COLLATE "C" NOT NULL CHECK (origin IN ('registered', 'document')),
    name        text COLLATE "C" NOT NULL,
    redirects   text COLLATE "C" NOT NULL,
    method      text COLLATE "C" NOT NULL CHECK (method IN ('none', 'private_key_jwt')),
    jwks_uri    text COLLATE "C" NOT NULL,
    jwks        text COLLATE "C",
    scope       text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    approved_at bigint
);
CREATE INDEX oauth_client_unapproved ON oauth_client (created_at) WHERE approved_at IS NULL;

CREATE TABLE oauth_code (
    secret_hash   text COLLATE "C" PRIMARY KEY,
    client_id     text COLLATE "C" NOT NULL,
    redirect      text COLLATE "C" NOT NULL,
    challenge     text COLLATE "C" NOT NULL,
    vault_id      text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    resource      text COLLATE "C" NOT NULL,
    scope         text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    expires_at    bigint NOT NULL,
    used_at       bigint,
    FOREIGN KEY (vault_id, connection_id) REFERENCES connection (vault_id, id)
);
CREATE INDEX oauth_code_end ON oauth_code (expires_at);

CREATE TABLE oauth_token (
    secret_hash   text COLLATE "C" PRIMARY KEY,
    kind          text COLLATE "C" NOT NULL CHECK (kind IN ('access', 'refresh')),
    client_id     text COLLATE "C" NOT NULL,
    vault_id      text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    resource      text COLLATE "C" NOT NULL,
    scope         text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    expires_at    bigint NOT NULL,
    used_at       bigint,
    FOREIGN KEY (vault_id, connection_id) REFERENCES connection (vault_id, id)
);
CREATE INDEX oauth_token_end ON oauth_token (expires_at);
CREATE INDEX oauth_token_connection ON oauth_token (vault_id, connection_id);

CREATE TABLE oauth_device (
    secret_hash   text COLLATE "C" PRIMARY KEY,
    user_code     text COLLATE "C" NOT NULL,
    client_id     text COLLATE "C" NOT NULL,
    resource      text COLLATE "C" NOT NULL,
    scope         text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    expires_at    bigint NOT NULL,
    decision      text COLLATE "C" NOT NULL CHECK (decision IN ('waiting', 'allowed', 'denied', 'redeemed')),
    vault_id      text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    polled_at     bigint
);
CREATE UNIQUE INDEX oauth_device_user_code ON oauth_device (user_code);
CREATE INDEX oauth_device_end ON oauth_device (expires_at);
