-- Questions to the server itself, and upkeep.

-- name: migrated
-- Whether any migration was ever applied.
SELECT to_regclass('schema_migration')::text;

-- name: lock
-- Waits until no other process migrates.
SELECT pg_advisory_xact_lock(:key);

-- name: server
-- Its encoding and version.
SELECT current_setting('server_encoding'), current_setting('server_version_num')::int;

-- name: extension
-- The version of pgvector.
SELECT extversion FROM pg_extension WHERE extname = 'vector';

-- name: versions
-- What runs here, and how large the database is.
SELECT
    split_part(current_setting('server_version'), ' ', 1),
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    pg_database_size(current_database());

-- name: safety
-- Settings of the server that an administrator may have turned off.
SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'autovacuum') AND setting = 'off'
ORDER BY name;

-- name: counted
-- Vaults whose counts have grown into many rows.
SELECT vault_id FROM passage_count GROUP BY vault_id HAVING count(*) > 200;

-- name: fold
-- Makes one row of many for the same scope and model. Rows that another process folds right now are left to it.
WITH old AS (
    SELECT ctid AS row FROM passage_count WHERE vault_id = :vault LIMIT 1000 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM passage_count c USING old WHERE c.ctid = old.row
    RETURNING c.scope_id, c.live, c.model_id, c.passages
)
INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
SELECT :vault, scope_id, live, model_id, sum(passages) FROM gone
GROUP BY scope_id, live, model_id HAVING sum(passages) <> 0;

-- name: idle_models
-- Models that no vector is left of but whose HNSW index is still there.
SELECT n.id FROM vector_model n
WHERE to_regclass('passage_vector_hnsw_' || n.id) IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM passage_vector v WHERE v.model_id = n.id)
  AND EXISTS (SELECT 1 FROM vector_model newer WHERE newer.id > n.id);

-- name: drop_hnsw
-- Takes such an index away.
DROP INDEX IF EXISTS passage_vector_hnsw_{model};

-- name: unknown
-- Large tables that the planner knows nothing about yet.
SELECT relname FROM pg_stat_user_tables
WHERE relname ~ '^(memory|memory_tag|revision|link|passage|passage_vector)_[0-9]$'
  AND last_analyze IS NULL AND last_autoanalyze IS NULL AND n_live_tup > 1000
ORDER BY relname;

-- name: analyze
-- Tells it.
ANALYZE {table};
