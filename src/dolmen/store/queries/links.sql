-- Typed edges between memories.

-- name: add
-- A new edge; nothing happens when it is there, or its memory is not.
INSERT INTO link (vault_id, source_id, rel, target, weight, created_at, agent)
SELECT m.vault_id, m.id, :rel, :target, :weight, :created_at, :agent
FROM memory m WHERE m.vault_id = :vault AND m.id = :source
ON CONFLICT (vault_id, source_id, rel, target) DO NOTHING;

-- name: weigh
-- Another weight for an edge.
UPDATE link SET weight = :weight
WHERE vault_id = :vault AND source_id = :source AND rel = :rel AND target = :target;

-- name: remove
-- One edge.
DELETE FROM link WHERE vault_id = :vault AND source_id = :source AND rel = :rel AND target = :target;

-- name: around
-- Edges that start at some memories, then those that end at one; what does both comes twice. `{ends}`: `hidden_end`.
SELECT source_id, rel, target, weight, created_at, agent, 0 AS side FROM link
WHERE vault_id = :vault AND source_id IN (:ids...) {ends}
UNION ALL
SELECT source_id, rel, target, weight, created_at, agent, 1 AS side FROM link
WHERE vault_id = :vault AND target IN (:ids...) {ends}
ORDER BY side, created_at, source_id, rel, target;

-- name: hidden_end
-- A memory at one end of an edge that the viewer must not see.
SELECT 1 FROM memory h
WHERE h.vault_id = link.vault_id AND (h.id = link.source_id OR h.id = link.target) AND h.scope_id IN (:hidden...);

-- name: toward
-- Edges that end at a name, or at a part of it: `#` comes before `$`.
SELECT source_id, rel, target, weight, created_at, agent FROM link
WHERE vault_id = :vault AND (target = :name OR (target >= :first AND target < :last)) {ends}
ORDER BY created_at, source_id, rel, target;

-- name: stream
-- Every edge of the vault.
SELECT source_id, rel, target, weight, created_at, agent FROM link
WHERE vault_id = :vault {ends} ORDER BY source_id, rel, target;
