-- 0002 code refs: the files and symbols that memories mention, what they were anchored to, and what the last check found.

-- `statement` is the memory.content_key of the text that mentions it: only those of the present text count, and a text
-- that is brought back finds its own again.
CREATE TABLE code_ref (
    vault_id       TEXT NOT NULL,
    memory_id      TEXT NOT NULL,
    statement      TEXT NOT NULL,
    path           TEXT NOT NULL,
    symbol         TEXT NOT NULL,
    position       INTEGER NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('pending', 'current', 'changed', 'missing', 'unresolved')),
    anchor_commit  TEXT NOT NULL,
    anchor_hash    TEXT NOT NULL,
    resolved_path  TEXT NOT NULL,
    checked_commit TEXT NOT NULL,
    checked_at     INTEGER,
    PRIMARY KEY (vault_id, memory_id, statement, path, symbol),
    CHECK ((anchor_commit = '') = (anchor_hash = '')),
    CHECK (path <> '' OR symbol <> '')
) WITHOUT ROWID;
CREATE INDEX code_ref_target ON code_ref (vault_id, path, symbol);
CREATE INDEX code_ref_stale ON code_ref (vault_id, memory_id) WHERE state IN ('changed', 'missing');
