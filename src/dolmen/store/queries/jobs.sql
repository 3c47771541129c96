-- Work that is done in the background, once.

-- name: add
-- A new job, unless one of its kind has its key already.
INSERT INTO job (vault_id, id, kind, key, payload, status, attempts, due_at, owner, created_at, finished_at, error)
VALUES (:vault, :id, :kind, :key, :payload, 'waiting', 0, :due_at, '', :created_at, NULL, '')
ON CONFLICT DO NOTHING;

-- name: due
-- Jobs of some kinds that may begin, the longest due first.
SELECT vault_id, {columns} FROM job
WHERE status = 'waiting' AND due_at <= :now AND kind IN (:kinds...) {vault} ORDER BY due_at, id LIMIT :limit;

-- name: take
-- Takes a job that is still as it was seen.
UPDATE job SET due_at = :until, owner = :owner, attempts = attempts + 1
WHERE vault_id = :vault AND id = :id AND status = 'waiting' AND due_at = :due_at AND owner = :seen;

-- name: renew
-- A longer lease for the one that has it.
UPDATE job SET due_at = :until WHERE vault_id = :vault AND id = :id AND status = 'waiting' AND owner = :owner;

-- name: end
-- Ends a job, or puts it back, for the one that has its lease.
UPDATE job SET status = :status, due_at = :due_at, owner = '', attempts = attempts - :uncounted,
    finished_at = CAST(:finished_at AS BIGINT), error = :error
WHERE vault_id = :vault AND id = :id AND status = 'waiting' AND owner = :owner;

-- name: revive
-- Dead jobs of a kind begin again, and those that wait for their next try begin now.
UPDATE job SET status = 'waiting', due_at = :now, owner = '', finished_at = NULL,
    attempts = CASE WHEN status = 'dead' THEN 0 ELSE attempts END
WHERE vault_id = :vault AND kind = :kind
    AND (status = 'dead' OR (status = 'waiting' AND owner = '' AND due_at > :now));

-- name: select
-- Jobs of a vault under a condition, oldest first.
SELECT vault_id, {columns} FROM job WHERE vault_id = :vault {where} ORDER BY created_at, id LIMIT :limit;

-- name: counts
-- How many there are of each kind and status; those that are being done apart.
SELECT kind, CASE WHEN status = 'waiting' AND owner <> '' AND due_at > :now THEN 'running' ELSE status END AS state,
    COUNT(*)
FROM job {where} GROUP BY kind, state;

-- name: trim
-- Forgets jobs that were done long ago.
DELETE FROM job WHERE vault_id = :vault AND kind = :kind AND status = 'done' AND finished_at < :before;
