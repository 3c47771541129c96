-- Idempotency keys.

-- name: find
-- What the first call with this key stored.
SELECT memory_id FROM idempotency WHERE vault_id = :vault AND connection = :connection AND key = :key;

-- name: put
-- Takes a key; nothing happens when it is taken.
INSERT INTO idempotency (vault_id, connection, key, memory_id, created_at)
VALUES (:vault, :connection, :key, :memory, :at) ON CONFLICT (vault_id, connection, key) DO NOTHING;
