-- 0009 second factor: one-time codes, the recovery codes behind them, passkeys, and what signing in waits for.
-- Passkeys and the secret of one-time codes are rows of person_secret; `used_at` of the latter is the time of the code
-- that was taken last, so that none is taken twice.

CREATE TABLE recovery_code (
    vault_id   text COLLATE "C" NOT NULL,
    person_id  text COLLATE "C" NOT NULL,
    code_hash  text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (vault_id, person_id, code_hash),
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
);

-- Between two requests of one browser: the password was right and a code is missing; a secret of codes waits for its
-- first one; a passkey has been challenged.
-- `person_id` is empty as long as nobody knows who it is.
CREATE TABLE sign_in_step (
    secret_hash text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL CHECK (kind IN ('code', 'new-code', 'passkey', 'new-passkey')),
    vault_id    text COLLATE "C" NOT NULL,
    person_id   text COLLATE "C" NOT NULL,
    data        text COLLATE "C" NOT NULL,
    expires_at  bigint NOT NULL,
    PRIMARY KEY (secret_hash, kind)
);
CREATE INDEX sign_in_step_expiry ON sign_in_step (expires_at);

-- What a person recognises a browser by.
ALTER TABLE browser_session ADD COLUMN device text COLLATE "C" NOT NULL DEFAULT '';
