-- Which migrations a store has.

-- name: record
-- A migration that was applied.
INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (:number, :name, :checksum, :now);

-- name: applied
-- Those that were.
SELECT number, checksum FROM schema_migration ORDER BY number;
