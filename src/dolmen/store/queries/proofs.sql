-- What people prove themselves with besides a password, and the steps of signing in.

-- name: drop_secret
-- A person's only secret of a kind.
DELETE FROM person_secret WHERE vault_id = :vault AND person_id = :person AND kind = :kind AND id = :id;

-- name: use_code
-- A code of a later time than the last one.
UPDATE person_secret SET used_at = :at
WHERE vault_id = :vault AND person_id = :person AND kind = 'totp' AND id = '' AND (used_at IS NULL OR used_at < :at);

-- name: drop_recovery
-- A person's recovery codes.
DELETE FROM recovery_code WHERE vault_id = :vault AND person_id = :person;

-- name: add_recovery
-- A recovery code.
INSERT INTO recovery_code (vault_id, person_id, code_hash, created_at) VALUES (:vault, :person, :hash, :at);

-- name: use_recovery
-- It is used up.
DELETE FROM recovery_code WHERE vault_id = :vault AND person_id = :person AND code_hash = :hash;

-- name: recovery_left
-- How many there are.
SELECT COUNT(*) FROM recovery_code WHERE vault_id = :vault AND person_id = :person;

-- name: add_passkey
-- A passkey.
INSERT INTO person_secret (vault_id, person_id, kind, id, data, label, created_at, used_at)
VALUES (:vault, :person, 'passkey', :id, :data, :label, :created_at, :used_at);

-- name: passkeys
-- Passkeys of a person, in the order in which they came.
SELECT vault_id, person_id, id, data, label, created_at, used_at FROM person_secret
WHERE vault_id = :vault AND person_id = :person AND kind = 'passkey' ORDER BY created_at, id;

-- name: passkey
-- One passkey with its person, if they are still there.
SELECT s.vault_id, s.person_id, s.id, s.data, s.label, s.created_at, s.used_at,
    p.vault_id, p.id, p.name, p.role, p.created_at, p.removed_at, p.login
FROM person_secret s
JOIN person p ON p.vault_id = s.vault_id AND p.id = s.person_id AND p.removed_at IS NULL
WHERE s.kind = 'passkey' AND s.id = :id;

-- name: use_passkey
-- It signed once more, unless somebody else used it meanwhile.
UPDATE person_secret SET data = :data, used_at = :at
WHERE vault_id = :vault AND person_id = :person AND kind = 'passkey' AND id = :id AND data = :seen;

-- name: add_step
-- What a browser has to bring next.
INSERT INTO sign_in_step (secret_hash, kind, vault_id, person_id, data, expires_at)
VALUES (:hash, :kind, :vault, :person, :data, :expires_at)
ON CONFLICT (secret_hash, kind) DO UPDATE SET
    vault_id = excluded.vault_id, person_id = excluded.person_id, data = excluded.data, expires_at = excluded.expires_at;

-- name: step
-- One step.
SELECT kind, vault_id, person_id, data, expires_at FROM sign_in_step WHERE secret_hash = :hash AND kind = :kind;

-- name: take_step
-- One step, for whoever comes first.
DELETE FROM sign_in_step WHERE secret_hash = :hash AND kind = :kind
RETURNING kind, vault_id, person_id, data, expires_at;

-- name: trim
-- Steps that expired.
DELETE FROM sign_in_step WHERE expires_at <= :now;
