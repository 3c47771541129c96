-- Idempotency keys.

-- name: find
-- What the first call with this key stored.
SELECT memory_id FROM idempotency WHERE vault_id = :vault AND connection = :connection AND key = :key;

-- name: put
-- Takes a key; nothing happens when it is taken. The memory may follow in the same transaction.
INSERT INTO idempotency (vault_id, connection, key, memory_id, created_at)
VALUES (:vault, :connection, :key, :memory, :at) ON CONFLICT (vault_id, connection, key) DO NOTHING;

-- name: take_over
-- Takes a key whose memory was not stored after all.
UPDATE idempotency SET memory_id = :memory, created_at = :at
WHERE vault_id = :vault AND connection = :connection AND key = :key AND NOT EXISTS (
    SELECT 1 FROM memory m WHERE m.vault_id = idempotency.vault_id AND m.id = idempotency.memory_id
);
