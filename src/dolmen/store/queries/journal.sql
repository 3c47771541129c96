-- What happened: recall events, feedback, audit.

-- name: add_event
-- A recall; nothing happens when it is there.
INSERT INTO recall_event (vault_id, id, at, connection, agent, query, refs)
VALUES (:vault, :id, :at, :connection, :agent, :query, :refs) ON CONFLICT (vault_id, id) DO NOTHING;

-- name: event
-- One recall.
SELECT id, vault_id, at, connection, agent, query, refs FROM recall_event WHERE vault_id = :vault AND id = :id;

-- name: recalled
-- Every recall, oldest first.
SELECT id, vault_id, at, connection, agent, query, refs FROM recall_event WHERE vault_id = :vault ORDER BY at, id;

-- name: add_feedback
-- What somebody said about a recall; nothing happens when it is there.
INSERT INTO feedback (vault_id, id, at, connection, agent, event_id, refs, relevant, sufficient, reason)
VALUES (:vault, :id, :at, :connection, :agent, :event, :refs, :relevant, :sufficient, :reason)
ON CONFLICT (vault_id, id) DO NOTHING;

-- name: feedbacks
-- All that was said, oldest first.
SELECT id, vault_id, at, connection, agent, event_id, refs, relevant, sufficient, reason
FROM feedback WHERE vault_id = :vault ORDER BY at, id;

-- name: add_audit
-- A request that was answered; nothing happens when it is there.
INSERT INTO audit (vault_id, id, at, connection, agent, op, detail, origin)
VALUES (:vault, :id, :at, :connection, :agent, :op, :detail, :origin) ON CONFLICT (vault_id, id) DO NOTHING;

-- name: answered
-- Requests of a connection since a time; the rows of one request have one time.
SELECT COUNT(DISTINCT at) FROM audit WHERE vault_id = :vault AND at >= :since AND connection = :connection;

-- name: audited
-- The newest requests.
SELECT id, vault_id, at, connection, agent, op, detail, origin
FROM audit WHERE vault_id = :vault ORDER BY at DESC, id DESC LIMIT :limit;

-- name: purged
-- Which of these an operation was done to, such as a purge.
SELECT DISTINCT detail FROM audit WHERE vault_id = :vault AND op = :op AND detail IN (:ids...);

-- name: trim
-- Forgets old recalls that no feedback names.
DELETE FROM recall_event
WHERE vault_id = :vault AND at < :before AND NOT EXISTS (
    SELECT 1 FROM feedback f WHERE f.vault_id = recall_event.vault_id AND f.event_id = recall_event.id
);

-- name: remove_events
-- Recalls that must go.
DELETE FROM recall_event WHERE vault_id = :vault AND id IN (:ids...);

-- name: remove_feedbacks
-- Feedback that must go.
DELETE FROM feedback WHERE vault_id = :vault AND id IN (:ids...);
