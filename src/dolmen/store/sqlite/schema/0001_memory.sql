-- 0001 memory: vaults and who acts in them, memories with their revisions and links, proposals, and the search index.
-- Times are microseconds since the epoch. JSON is text. Every row belongs to one vault.

-- The migrations that were applied, with the SHA-256 of their text.
CREATE TABLE schema_migration (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at INTEGER NOT NULL
);

CREATE TABLE vault (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    scopes     INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE person (
    vault_id   TEXT NOT NULL REFERENCES vault (id),
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;

-- A credential that an agent uses. Only a hash of the secret is kept.
CREATE TABLE connection (
    vault_id     TEXT NOT NULL,
    id           TEXT NOT NULL,
    person_id    TEXT NOT NULL,
    agent        TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('read', 'suggest', 'write', 'admin')),
    toolset      TEXT NOT NULL,
    project      TEXT,
    label        TEXT NOT NULL DEFAULT '',
    hint         TEXT NOT NULL DEFAULT '',
    secret_hash  TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX connection_secret ON connection (secret_hash);

-- `user`, or `project:<identity>`. A renamed project keeps its old name as an alias of the new one, one step deep.
-- Rows are never deleted, and `vault.scopes` counts their changes, so that a process can keep them in memory.
CREATE TABLE scope (
    id         INTEGER PRIMARY KEY,
    vault_id   TEXT NOT NULL REFERENCES vault (id),
    name       TEXT NOT NULL,
    alias_of   INTEGER REFERENCES scope (id),
    created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX scope_name ON scope (vault_id, name);

-- The long columns come last: a row is often read for its first ones only.
CREATE TABLE memory (
    n             INTEGER PRIMARY KEY,
    vault_id      TEXT NOT NULL,
    id            TEXT NOT NULL,
    scope_id      INTEGER NOT NULL REFERENCES scope (id),
    kind          TEXT NOT NULL,
    label         TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('proposed', 'active', 'superseded', 'deleted')),
    trust         TEXT NOT NULL CHECK (trust IN ('user', 'agent', 'external')),
    verification  TEXT NOT NULL CHECK (verification IN ('verified', 'accepted', 'unverified', 'stale', 'rejected')),
    folder        TEXT NOT NULL,
    tags          TEXT NOT NULL,
    importance    REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
    pinned        INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    agent         TEXT NOT NULL,
    person        TEXT NOT NULL,
    connection    TEXT NOT NULL,
    session       TEXT NOT NULL,
    case_id       TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    supersedes    TEXT,
    superseded_by TEXT,
    verified_by   TEXT NOT NULL,
    version       INTEGER NOT NULL CHECK (version >= 1),
    content_key   TEXT NOT NULL,
    title         TEXT NOT NULL,
    source        TEXT NOT NULL,
    case_fields   TEXT,
    attrs         TEXT NOT NULL,
    text          TEXT NOT NULL
);
CREATE UNIQUE INDEX memory_id ON memory (vault_id, id);
CREATE INDEX memory_created ON memory (vault_id, created_at, id);
CREATE INDEX memory_scope ON memory (vault_id, scope_id, status, created_at, id);
CREATE INDEX memory_kind ON memory (vault_id, scope_id, status, kind, expires_at);
CREATE INDEX memory_case ON memory (vault_id, case_id) WHERE case_id IS NOT NULL;
CREATE INDEX memory_session ON memory (vault_id, session) WHERE session <> '';
CREATE INDEX memory_expiry ON memory (vault_id, expires_at) WHERE expires_at IS NOT NULL;
-- The same statement is kept once per kind and scope (C-110), however many writers race.
CREATE UNIQUE INDEX memory_statement ON memory (vault_id, scope_id, label, kind, content_key)
    WHERE status IN ('proposed', 'active');

-- The current tags once more, so that they can be looked up.
CREATE TABLE memory_tag (
    vault_id  TEXT NOT NULL,
    tag       TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    PRIMARY KEY (vault_id, tag, memory_id)
) WITHOUT ROWID;
CREATE INDEX memory_tag_memory ON memory_tag (vault_id, memory_id);

-- What a memory was before each change: its columns as they were, and the change. A rowid table, since texts are long.
CREATE TABLE revision (
    vault_id          TEXT NOT NULL,
    id                TEXT NOT NULL,
    version           INTEGER NOT NULL,
    at                INTEGER NOT NULL,
    op                TEXT NOT NULL,
    change_agent      TEXT NOT NULL,
    change_person     TEXT NOT NULL,
    change_connection TEXT NOT NULL,
    reason            TEXT NOT NULL,
    scope_id          INTEGER NOT NULL REFERENCES scope (id),
    kind              TEXT NOT NULL,
    label             TEXT NOT NULL,
    status            TEXT NOT NULL,
    trust             TEXT NOT NULL,
    verification      TEXT NOT NULL,
    folder            TEXT NOT NULL,
    tags              TEXT NOT NULL,
    importance        REAL NOT NULL,
    pinned            INTEGER NOT NULL,
    agent             TEXT NOT NULL,
    person            TEXT NOT NULL,
    connection        TEXT NOT NULL,
    session           TEXT NOT NULL,
    case_id           TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    expires_at        INTEGER,
    supersedes        TEXT,
    superseded_by     TEXT,
    verified_by       TEXT NOT NULL,
    title             TEXT NOT NULL,
    source            TEXT NOT NULL,
    case_fields       TEXT,
    attrs             TEXT NOT NULL,
    text              TEXT NOT NULL,
    PRIMARY KEY (vault_id, id, version)
);

CREATE TABLE link (
    vault_id   TEXT NOT NULL,
    source_id  TEXT NOT NULL,
    rel        TEXT NOT NULL,
    target     TEXT NOT NULL,
    weight     REAL NOT NULL,
    created_at INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    PRIMARY KEY (vault_id, source_id, rel, target)
) WITHOUT ROWID;
CREATE INDEX link_target ON link (vault_id, target);

-- A repeated call with the same key gets the same memory back.
CREATE TABLE idempotency (
    vault_id   TEXT NOT NULL,
    connection TEXT NOT NULL,
    key        TEXT NOT NULL,
    memory_id  TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (vault_id, connection, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_memory ON idempotency (vault_id, memory_id);

CREATE TABLE proposal (
    vault_id      TEXT NOT NULL,
    id            TEXT NOT NULL,
    op            TEXT NOT NULL,
    memory_id     TEXT,
    base_version  INTEGER,
    payload       TEXT NOT NULL,
    reason        TEXT NOT NULL,
    because       TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('pending', 'applied', 'rejected', 'withdrawn')),
    agent         TEXT NOT NULL,
    person        TEXT NOT NULL,
    connection    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    decided_at    INTEGER,
    decided_by    TEXT NOT NULL,
    decision_note TEXT NOT NULL,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX proposal_status ON proposal (vault_id, status, created_at);
CREATE INDEX proposal_memory ON proposal (vault_id, memory_id);

-- What was recalled, so that feedback can name it. Written in batches; never holds a secret.
CREATE TABLE recall_event (
    vault_id   TEXT NOT NULL,
    id         TEXT NOT NULL,
    at         INTEGER NOT NULL,
    connection TEXT NOT NULL,
    agent      TEXT NOT NULL,
    query      TEXT NOT NULL,
    refs       TEXT NOT NULL,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX recall_event_at ON recall_event (vault_id, at);

CREATE TABLE feedback (
    vault_id   TEXT NOT NULL,
    id         TEXT NOT NULL,
    at         INTEGER NOT NULL,
    connection TEXT NOT NULL,
    agent      TEXT NOT NULL,
    event_id   TEXT,
    refs       TEXT NOT NULL,
    relevant   INTEGER,
    sufficient INTEGER,
    reason     TEXT NOT NULL,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX feedback_event ON feedback (vault_id, event_id);

-- One row per successful request; never a credential.
CREATE TABLE audit (
    vault_id   TEXT NOT NULL,
    id         TEXT NOT NULL,
    at         INTEGER NOT NULL,
    connection TEXT NOT NULL,
    agent      TEXT NOT NULL,
    op         TEXT NOT NULL,
    detail     TEXT NOT NULL,
    origin     TEXT NOT NULL,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX audit_at ON audit (vault_id, at);

-- Facts about the vault that a person set: review policy, names.
CREATE TABLE vault_setting (
    vault_id TEXT NOT NULL,
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (vault_id, key)
) WITHOUT ROWID;

-- Long work that only one process at a time does; the one whose lease runs out has died.
CREATE TABLE lease (
    name  TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;

-- The search index. Everything below can be dropped and made again from the rows above.

CREATE TABLE vector_model (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    dim        INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    centre     BLOB
);
CREATE UNIQUE INDEX vector_model_name ON vector_model (name, dim);

-- A stretch of a memory's text that is searched as one. `live` = current text of an active memory; a passage with
-- `valid_to` holds text that was replaced and serves as-of reads. Ids are never used twice: processes remember them.
-- `memory_n` is memory.n: found six times as fast as by (vault_id, id).
CREATE TABLE passage (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    vault_id     TEXT NOT NULL,
    memory_id    TEXT NOT NULL,
    memory_n     INTEGER NOT NULL,
    scope_id     INTEGER NOT NULL REFERENCES scope (id),
    live         INTEGER NOT NULL CHECK (live IN (0, 1)),
    ord          INTEGER NOT NULL,
    start_at     INTEGER NOT NULL,
    end_at       INTEGER NOT NULL,
    length       INTEGER NOT NULL,
    valid_from   INTEGER NOT NULL,
    valid_to     INTEGER,
    vector_model INTEGER NOT NULL DEFAULT 0,
    seq          INTEGER NOT NULL,
    tokens       TEXT NOT NULL
);
CREATE INDEX passage_memory ON passage (memory_n);
CREATE INDEX passage_scope ON passage (scope_id, live, vector_model, id);
CREATE INDEX passage_seq ON passage (seq);

-- How many passages there are, so that no read has to count them. Kept by the triggers below.
CREATE TABLE passage_count (
    scope_id     INTEGER NOT NULL,
    live         INTEGER NOT NULL,
    vector_model INTEGER NOT NULL,
    passages     INTEGER NOT NULL,
    PRIMARY KEY (scope_id, live, vector_model)
) WITHOUT ROWID;

CREATE TRIGGER passage_added AFTER INSERT ON passage BEGIN
    INSERT INTO passage_count (scope_id, live, vector_model, passages)
    VALUES (NEW.scope_id, NEW.live, NEW.vector_model, 1)
    ON CONFLICT (scope_id, live, vector_model) DO UPDATE SET passages = passages + 1;
END;

CREATE TRIGGER passage_removed AFTER DELETE ON passage BEGIN
    UPDATE passage_count SET passages = passages - 1
    WHERE scope_id = OLD.scope_id AND live = OLD.live AND vector_model = OLD.vector_model;
END;

CREATE TRIGGER passage_moved AFTER UPDATE OF scope_id, live, vector_model ON passage BEGIN
    UPDATE passage_count SET passages = passages - 1
    WHERE scope_id = OLD.scope_id AND live = OLD.live AND vector_model = OLD.vector_model;
    INSERT INTO passage_count (scope_id, live, vector_model, passages)
    VALUES (NEW.scope_id, NEW.live, NEW.vector_model, 1)
    ON CONFLICT (scope_id, live, vector_model) DO UPDATE SET passages = passages + 1;
END;

-- Every process that keeps signatures in memory follows `value` (a passage's `seq` is its value at the last change) and
-- reads them all again when `epoch` has changed. `purged` says that destroyed text still has to leave the text index.
CREATE TABLE passage_clock (
    value  INTEGER NOT NULL,
    epoch  INTEGER NOT NULL,
    purged INTEGER NOT NULL
);
INSERT INTO passage_clock (value, epoch, purged) VALUES (0, 0, 0);

-- `vec` holds little-endian int16: each component times 32767. For parts of a unit vector that is more precise than
-- float16, and it is read ten times as fast.
CREATE TABLE vector (
    passage_id INTEGER PRIMARY KEY,
    model_id   INTEGER NOT NULL,
    vec        BLOB NOT NULL
);

-- What estimates the cosine to a vector (sqlite/signatures.py): small enough to read them all. There are none until the
-- vector's model has a centre (`vector_model.centre`, float32).
CREATE TABLE signature (
    passage_id INTEGER PRIMARY KEY,
    bits       BLOB NOT NULL
);

-- Each token carries the place that it is found at: `s<scope>:` in front for live passages, `x<scope>:` for the others.
CREATE VIRTUAL TABLE passage_text USING fts5 (
    body, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_=@~:'"
);
