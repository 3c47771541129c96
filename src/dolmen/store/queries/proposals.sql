-- Writes that wait for a person.

-- name: add
-- A new proposal; nothing happens when the memory that it is about is not there.
INSERT INTO proposal (
    vault_id, id, op, memory_id, base_version, payload, reason, because, status, agent, person, connection,
    created_at, decided_at, decided_by, decision_note, note_id, audience
)
SELECT
    v.id, :id, :op, CAST(:memory AS TEXT), CAST(:base_version AS BIGINT), :payload, :reason, :because, :status, :agent,
    :person, :connection, :created_at, CAST(:decided_at AS BIGINT), :decided_by, :decision_note,
    CAST(:note AS TEXT), :audience
FROM vault v
WHERE v.id = :vault AND (
    CAST(:memory AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM memory m WHERE m.vault_id = v.id AND m.id = :memory)
) AND (
    CAST(:note AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM note n WHERE n.vault_id = v.id AND n.id = :note)
);

-- name: select
-- Proposals under a condition, oldest first.
SELECT
    id, op, memory_id, base_version, payload, reason, because, status, agent, person, connection,
    created_at, decided_at, decided_by, decision_note, note_id, audience
FROM proposal WHERE vault_id = :vault {where} ORDER BY created_at, id {limit};

-- name: seen_by
-- Only what these audiences may see.
AND proposal.audience IN (:audiences...);

-- name: about_hidden
-- Nothing about a memory or a note in scopes that are hidden.
AND NOT EXISTS (
    SELECT 1 FROM memory h
    WHERE h.vault_id = proposal.vault_id AND h.id = proposal.memory_id AND h.scope_id IN (:hidden...)
) AND NOT EXISTS (
    SELECT 1 FROM note h
    WHERE h.vault_id = proposal.vault_id AND h.id = proposal.note_id AND h.scope_id IN (:hidden...)
);

-- name: decide
-- A person's decision on a pending one.
UPDATE proposal SET status = :status, decided_at = :at, decided_by = :by, decision_note = :note
WHERE vault_id = :vault AND id = :id AND status = 'pending';

-- name: remove
-- Proposals that must go.
DELETE FROM proposal WHERE vault_id = :vault AND id IN (:ids...);
