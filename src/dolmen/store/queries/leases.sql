-- Long work that one process at a time does.

-- name: take
-- A lease that is free, run out, or already the owner's.
INSERT INTO lease (name, owner, until) VALUES (:name, :owner, :until)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE lease.owner = excluded.owner OR lease.until <= :now;

-- name: release
-- Gives a lease back.
DELETE FROM lease WHERE name = :name AND owner = :owner;
