-- References of memories to code. `{where}` is the one filter over `m`; only the references of a memory's present text
-- are joined to it.

-- name: add
-- A reference; nothing happens when it is there, or its memory is not.
INSERT INTO code_ref (
    vault_id, memory_id, statement, path, symbol, position, state, anchor_commit, anchor_hash, resolved_path,
    checked_commit, checked_at
)
SELECT m.vault_id, m.id, :statement, :path, :symbol, :position, :state, :anchor_commit, :anchor_hash, :resolved_path,
    :checked_commit, :checked_at
FROM memory m WHERE m.vault_id = :vault AND m.id = :memory
ON CONFLICT (vault_id, memory_id, statement, path, symbol) DO NOTHING;

-- name: save
-- What a check found, or where it was anchored.
UPDATE code_ref SET state = :state, anchor_commit = :anchor_commit, anchor_hash = :anchor_hash,
    resolved_path = :resolved_path, checked_commit = :checked_commit, checked_at = :checked_at, position = :position
WHERE vault_id = :vault AND memory_id = :memory AND statement = :statement AND path = :path AND symbol = :symbol;

-- name: remove
-- One reference.
DELETE FROM code_ref
WHERE vault_id = :vault AND memory_id = :memory AND statement = :statement AND path = :path AND symbol = :symbol;

-- name: of
-- The references of the present texts of some memories.
SELECT r.memory_id, r.statement, r.path, r.symbol, r.position, r.state, r.anchor_commit, r.anchor_hash, r.resolved_path,
    r.checked_commit, r.checked_at
FROM code_ref r JOIN memory m ON m.vault_id = r.vault_id AND m.id = r.memory_id AND m.content_key = r.statement
WHERE r.vault_id = :vault AND r.memory_id IN (:ids...)
ORDER BY r.memory_id, r.position, r.path, r.symbol;

-- name: text
-- The references of one text of a memory.
SELECT r.memory_id, r.statement, r.path, r.symbol, r.position, r.state, r.anchor_commit, r.anchor_hash, r.resolved_path,
    r.checked_commit, r.checked_at
FROM code_ref r WHERE r.vault_id = :vault AND r.memory_id = :memory AND r.statement = :statement
ORDER BY r.position, r.path, r.symbol;

-- name: targets
-- What is to be looked at: what nobody has looked at first, then what was looked at longest ago.
SELECT r.path, r.symbol, r.anchor_commit, r.anchor_hash, MAX(r.checked_commit), MIN(COALESCE(r.checked_at, 0)) AS seen
FROM code_ref r JOIN memory m ON m.vault_id = r.vault_id AND m.id = r.memory_id AND m.content_key = r.statement
WHERE {where}
GROUP BY r.path, r.symbol, r.anchor_commit, r.anchor_hash
ORDER BY seen, CASE WHEN r.anchor_hash = '' THEN 0 ELSE 1 END, r.path, r.symbol, r.anchor_commit
LIMIT :limit OFFSET :offset;

-- name: in_files
-- The references to some files and what is in them.
SELECT r.memory_id, r.statement, r.path, r.symbol, r.position, r.state, r.anchor_commit, r.anchor_hash, r.resolved_path,
    r.checked_commit, r.checked_at
FROM code_ref r WHERE r.vault_id = :vault AND r.path IN (:names...);

-- name: in_no_file
-- The references to some symbols whose file is not said.
SELECT r.memory_id, r.statement, r.path, r.symbol, r.position, r.state, r.anchor_commit, r.anchor_hash, r.resolved_path,
    r.checked_commit, r.checked_at
FROM code_ref r WHERE r.vault_id = :vault AND r.path = '' AND r.symbol IN (:names...);

-- name: texts
-- Which of some memories pass the filter, with their present texts.
SELECT m.id, m.content_key FROM memory m WHERE {where} AND m.id IN (:ids...);

-- name: counts
-- How many there are in each state.
SELECT r.state, COUNT(*)
FROM code_ref r JOIN memory m ON m.vault_id = r.vault_id AND m.id = r.memory_id AND m.content_key = r.statement
WHERE {where} GROUP BY r.state;

-- name: stream
-- Every reference of the vault, also those of texts that memories no longer have.
SELECT r.memory_id, r.statement, r.path, r.symbol, r.position, r.state, r.anchor_commit, r.anchor_hash, r.resolved_path,
    r.checked_commit, r.checked_at
FROM code_ref r WHERE r.vault_id = :vault ORDER BY r.memory_id, r.statement, r.path, r.symbol;

-- name: hold
-- Changes nothing and holds the row until the transaction ends, on either engine.
UPDATE memory SET version = version WHERE vault_id = :vault AND id = :memory;

-- name: mark
-- The attributes of a memory that still has the version that they were made from.
UPDATE memory SET attrs = :attrs WHERE vault_id = :vault AND id = :memory AND version = :version;
