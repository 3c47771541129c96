-- 0003 jobs: work that is done in the background, once, by whichever process comes first.

-- A waiting job is due from `due_at` on; one that is being done is due again when its lease runs out, which is the same
-- column. `error` says why the last attempt failed. Payloads and errors hold ids and numbers, never what anybody said.
CREATE TABLE job (
    vault_id    text COLLATE "C" NOT NULL REFERENCES vault (id),
    id          text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    payload     text COLLATE "C" NOT NULL,
    status      text COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'done', 'dead')),
    attempts    bigint NOT NULL,
    due_at      bigint NOT NULL,
    owner       text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    finished_at bigint,
    error       text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id)
);
CREATE UNIQUE INDEX job_key ON job (vault_id, kind, key);
CREATE INDEX job_due ON job (due_at, id) WHERE status = 'waiting';

-- What was said once and is not served any more: a statement that was rejected is not proposed again.
CREATE INDEX memory_retired ON memory (vault_id, scope_id, content_key) WHERE status IN ('superseded', 'deleted');
