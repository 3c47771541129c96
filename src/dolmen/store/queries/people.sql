-- Persons: how they prove who they are, and the browsers that they are signed in with.

-- name: add
-- A person.
INSERT INTO person (vault_id, id, name, role, created_at, removed_at, login)
VALUES (:vault, :id, :name, :role, :created_at, :removed_at, :login);

-- name: select
-- Persons under a condition, in the order in which they came.
SELECT vault_id, id, name, role, created_at, removed_at, login FROM person WHERE {where} ORDER BY created_at, id;

-- name: change
-- Another name or login.
UPDATE person SET name = COALESCE(:name, name), login = COALESCE(:login, login) WHERE vault_id = :vault AND id = :id;

-- name: hold
-- Changes nothing and holds the row until the transaction ends, on either engine.
UPDATE person SET created_at = created_at WHERE vault_id = :vault AND id = :id;

-- name: remove
-- They are here no more.
UPDATE person SET removed_at = :at, login = NULL WHERE vault_id = :vault AND id = :id AND removed_at IS NULL;

-- name: vaults
-- The vaults that a person is in.
SELECT v.id, v.name FROM person p JOIN vault v ON v.id = p.vault_id
WHERE p.id = :id AND p.removed_at IS NULL ORDER BY p.created_at, v.id;

-- name: sign_out_name
-- The name that they sign in with is free.
UPDATE person SET login = NULL WHERE vault_id = :vault AND id = :id;

-- name: move_secrets
-- What they prove themselves with goes along to another vault of theirs.
UPDATE person_secret SET vault_id = :home WHERE vault_id = :vault AND person_id = :id;

-- name: move_recovery
-- Their recovery codes too.
UPDATE recovery_code SET vault_id = :home WHERE vault_id = :vault AND person_id = :id;

-- name: drop_secrets
-- Everything that they proved themselves with.
DELETE FROM person_secret WHERE vault_id = :vault AND person_id = :id;

-- name: drop_recovery
-- The codes that were to help when they lost one of these.
DELETE FROM recovery_code WHERE vault_id = :vault AND person_id = :id;

-- name: drop_steps
-- What they were about to prove.
DELETE FROM sign_in_step WHERE vault_id = :vault AND person_id = :id;

-- name: secret
-- What a person proves themselves with.
SELECT data FROM person_secret WHERE vault_id = :vault AND person_id = :id AND kind = :kind AND id = '';

-- name: set_secret
-- A new one in place of the old.
INSERT INTO person_secret (vault_id, person_id, kind, id, data, label, created_at, used_at)
VALUES (:vault, :id, :kind, '', :data, '', :at, NULL)
ON CONFLICT (vault_id, person_id, kind, id) DO UPDATE SET data = excluded.data, created_at = excluded.created_at, used_at = NULL;

-- name: open
-- A browser is signed in.
INSERT INTO browser_session (secret_hash, vault_id, person_id, created_at, seen_at, device)
VALUES (:hash, :vault, :person, :created_at, :seen_at, :device);

-- name: browser
-- A browser with its person, if they are still there.
SELECT b.vault_id, b.person_id, b.created_at, b.seen_at, b.device,
    p.vault_id, p.id, p.name, p.role, p.created_at, p.removed_at, p.login
FROM browser_session b
JOIN person p ON p.vault_id = b.vault_id AND p.id = b.person_id AND p.removed_at IS NULL
WHERE b.secret_hash = :hash;

-- name: see
-- It was here now.
UPDATE browser_session SET seen_at = :at WHERE secret_hash = :hash;

-- name: close
-- It is signed out.
DELETE FROM browser_session WHERE secret_hash = :hash;

-- name: browsers
-- The browsers of a person, the one that was here last first.
SELECT secret_hash, vault_id, person_id, created_at, seen_at, device FROM browser_session
WHERE vault_id = :vault AND person_id = :id ORDER BY seen_at DESC, secret_hash;

-- name: close_all
-- A person is signed out everywhere, but for one browser at most.
DELETE FROM browser_session WHERE vault_id = :vault AND person_id = :id AND secret_hash <> :but;

-- name: drop_half
-- Nor is a person between two steps of signing in any more.
DELETE FROM sign_in_step WHERE vault_id = :vault AND person_id = :id AND kind = 'code';

-- name: drop_browsers
-- A person is signed out everywhere.
DELETE FROM browser_session WHERE vault_id = :vault AND person_id = :id;

-- name: add_link
-- A link for a person.
INSERT INTO entry_link (secret_hash, vault_id, person_id, created_at, expires_at, used_at)
VALUES (:hash, :vault, :person, :created_at, :expires_at, :used_at);

-- name: drop_links
-- The links of a person.
DELETE FROM entry_link WHERE vault_id = :vault AND person_id = :id;

-- name: link
-- One link.
SELECT vault_id, person_id, created_at, expires_at, used_at FROM entry_link WHERE secret_hash = :hash;

-- name: use_link
-- Its first use.
UPDATE entry_link SET used_at = :at WHERE secret_hash = :hash AND used_at IS NULL;

-- name: guess
-- One more guess in a row; a row whose last one is past begins anew, and a full one is not made longer.
INSERT INTO sign_in_failure (subject, number, last_at) VALUES (:subject, 1, :at)
ON CONFLICT (subject) DO UPDATE SET
    number = CASE WHEN sign_in_failure.last_at <= :past THEN 1 ELSE sign_in_failure.number + 1 END,
    last_at = CASE WHEN sign_in_failure.last_at > :past AND sign_in_failure.number >= :most
        THEN sign_in_failure.last_at ELSE :at END
RETURNING number, last_at;

-- name: succeeded
-- The row is broken.
DELETE FROM sign_in_failure WHERE subject = :subject;

-- name: take_back
-- The last guess was none.
UPDATE sign_in_failure SET number = number - 1 WHERE subject = :subject AND number > 0;

-- name: trim_browsers
-- Browsers that are signed in for too long, or were not here for too long.
DELETE FROM browser_session WHERE seen_at < :seen OR created_at < :created;

-- name: trim_failures
-- Failures that are long past.
DELETE FROM sign_in_failure WHERE last_at < :failed;

-- name: trim_links
-- Links that expired.
DELETE FROM entry_link WHERE expires_at <= :now;
