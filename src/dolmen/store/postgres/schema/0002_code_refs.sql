-- 0002 code refs: the files and symbols that memories mention, what they were anchored to, and what the last check found.

-- `statement` is the memory.content_key of the text that mentions it: only those of the present text count, and a text
-- that is brought back finds its own again.
CREATE TABLE code_ref (
    vault_id       text COLLATE "C" NOT NULL,
    memory_id      text COLLATE "C" NOT NULL,
    statement      text COLLATE "C" NOT NULL,
    path           text COLLATE "C" NOT NULL,
    symbol         text COLLATE "C" NOT NULL,
    position       bigint NOT NULL,
    state          text COLLATE "C" NOT NULL
        CHECK (state IN ('pending', 'current', 'changed', 'missing', 'unresolved')),
    anchor_commit  text COLLATE "C" NOT NULL,
    anchor_hash    text COLLATE "C" NOT NULL,
    resolved_path  text COLLATE "C" NOT NULL,
    checked_commit text COLLATE "C" NOT NULL,
    checked_at     bigint,
    PRIMARY KEY (vault_id, memory_id, statement, path, symbol),
    CHECK ((anchor_commit = '') = (anchor_hash = '')),
    CHECK (path <> '' OR symbol <> ''),
    FOREIGN KEY (vault_id, memory_id) REFERENCES memory (vault_id, id) ON DELETE CASCADE
) PARTITION BY HASH (vault_id);
CREATE TABLE code_ref_0 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE code_ref_1 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE code_ref_2 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE code_ref_3 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE code_ref_4 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE code_ref_5 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE code_ref_6 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE code_ref_7 PARTITION OF code_ref FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX code_ref_target ON code_ref (vault_id, path, symbol);
CREATE INDEX code_ref_stale ON code_ref (vault_id, memory_id) WHERE state IN ('changed', 'missing');
