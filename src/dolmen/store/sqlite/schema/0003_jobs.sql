-- 0003 jobs: work that is done in the background, once, by whichever process comes first.

-- A waiting job is due from `due_at` on; one that is being done is due again when its lease runs out, which is the same
-- column. `error` says why the last attempt failed. Payloads and errors hold ids and numbers, never what anybody said.
CREATE TABLE job (
    vault_id    TEXT NOT NULL REFERENCES vault (id),
    id          TEXT NOT NULL,
    kind        TEXT NOT NULL,
    key         TEXT NOT NULL,
    payload     TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('waiting', 'done', 'dead')),
    attempts    INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    owner       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    error       TEXT NOT NULL,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX job_key ON job (vault_id, kind, key);
CREATE INDEX job_due ON job (due_at, id) WHERE status = 'waiting';

-- What was said once and is not served any more: a statement that was rejected is not proposed again.
CREATE INDEX memory_retired ON memory (vault_id, scope_id, content_key) WHERE status IN ('superseded', 'deleted');
