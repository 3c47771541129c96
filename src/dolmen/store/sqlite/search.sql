-- The search index of the embedded engine. `{joins}` and `{where}` are of store.filter, over `m` and `p`.
-- `carray(:ids)` is a list of numbers (https://sqlite.org/carray.html): `SqliteSession.among` binds it.

-- name: tick
-- The next value of the clock that processes follow.
UPDATE passage_clock SET value = value + 1 RETURNING value;

-- name: clock
-- The clock as this transaction sees it.
SELECT value, epoch FROM passage_clock;

-- name: new_epoch
-- Tells every process to forget what it remembers of the index.
UPDATE passage_clock SET epoch = epoch + 1;

-- name: purged
-- Destroyed text still has to leave the text index.
UPDATE passage_clock SET purged = 1;

-- name: is_purged
-- Whether it has.
SELECT purged FROM passage_clock;

-- name: cleaned
-- It has left.
UPDATE passage_clock SET purged = 0;

-- name: add
-- A passage.
INSERT INTO passage (
    vault_id, memory_id, memory_n, scope_id, live, ord, start_at, end_at, length, valid_from, valid_to, seq, tokens
)
SELECT
    m.vault_id, m.id, m.n, :scope_id, :live, :ord, :start, :end, :length, :valid_from, :valid_to, :seq, :tokens
FROM memory m WHERE m.vault_id = :vault AND m.id = :memory
RETURNING id;

-- name: index
-- Its tokens in the text index.
INSERT INTO passage_text (rowid, body) VALUES (:id, :body);

-- name: unindex
-- Takes them out.
DELETE FROM passage_text WHERE rowid = :id;

-- name: current
-- A memory's passages of today.
SELECT p.id, p.scope_id, p.live, p.tokens FROM memory m CROSS JOIN passage p ON p.memory_n = m.n
WHERE m.vault_id = :vault AND m.id = :memory AND p.valid_to IS NULL;

-- name: of_memories
-- All passages of some memories.
SELECT p.id, p.scope_id, p.live, p.tokens FROM memory m CROSS JOIN passage p ON p.memory_n = m.n
WHERE m.vault_id = :vault AND m.id IN (:ids...);

-- name: retire
-- A passage whose text was replaced.
UPDATE passage SET live = 0, valid_to = :at, seq = :seq WHERE id = :id;

-- name: set_live
-- A passage whose memory came or went.
UPDATE passage SET live = :live, seq = :seq WHERE id = :id;

-- name: move
-- A passage in another scope.
UPDATE passage SET scope_id = :scope_id, seq = :seq WHERE id = :id;

-- name: drop
-- A passage that is destroyed.
DELETE FROM passage WHERE id = :id;

-- name: drop_vector
-- Its vector.
DELETE FROM vector WHERE passage_id = :id;

-- name: drop_signature
-- The vector's signature.
DELETE FROM signature WHERE passage_id = :id;

-- name: of_vault
-- All passages of a vault.
SELECT p.id FROM scope s CROSS JOIN passage p ON p.scope_id = s.id WHERE s.vault_id = :vault;

-- name: others
-- Whether another vault has passages.
SELECT 1 FROM scope s CROSS JOIN passage p ON p.scope_id = s.id WHERE s.vault_id <> :vault LIMIT 1;

-- name: empty
-- The whole text index, when it holds one vault only.
INSERT INTO passage_text (passage_text) VALUES ('delete-all');

-- name: range
-- The first and the last live passage of some scopes, to judge how far a scan came.
SELECT
    MIN((
        SELECT p.id FROM passage p WHERE p.scope_id = c.scope_id AND p.live = c.live AND p.vector_model = c.vector_model
        ORDER BY p.id LIMIT 1
    )),
    MAX((
        SELECT p.id FROM passage p WHERE p.scope_id = c.scope_id AND p.live = c.live AND p.vector_model = c.vector_model
        ORDER BY p.id DESC LIMIT 1
    ))
FROM passage_count c WHERE c.scope_id IN carray(:ids) AND c.live = 1 AND c.passages > 0;

-- name: probe
-- How many passages match, and the last one looked at, within a bound.
SELECT COUNT(*), MAX(id) FROM (SELECT rowid AS id FROM passage_text WHERE passage_text MATCH :match LIMIT :limit);

-- name: total
-- Live passages of some scopes.
SELECT COALESCE(SUM(passages), 0) FROM passage_count WHERE scope_id IN carray(:ids) AND live = 1;

-- name: ranked
-- Passages by the weights of the tokens that they have. `{postings}` gives (id, weight) for each token.
SELECT id, SUM(weight) AS score FROM ({postings}) GROUP BY id ORDER BY score DESC, id DESC LIMIT :size;

-- name: postings
-- The passages that have a token.
SELECT rowid FROM passage_text WHERE passage_text MATCH :match;

-- name: lengths
-- The numbers of tokens of some passages.
SELECT id, length FROM passage WHERE id IN carray(:ids);

-- name: newest
-- The newest passages that match an expression.
SELECT rowid FROM passage_text WHERE passage_text MATCH :match ORDER BY rowid DESC LIMIT :limit;

-- name: hits
-- Those of some passages that the filter lets through.
SELECT p.id, p.memory_id, p.tokens, p.length
FROM passage p CROSS JOIN memory m ON m.n = p.memory_n {joins}
WHERE p.id IN carray(:ids) AND {where};

-- name: passing
-- The same without their tokens.
SELECT p.id FROM passage p CROSS JOIN memory m ON m.n = p.memory_n {joins}
WHERE p.id IN carray(:ids) AND {where};

-- name: spans
-- Where passages stand in their texts.
SELECT id, start_at, end_at FROM passage WHERE vault_id = :vault AND id IN carray(:ids);

-- name: model
-- A vector model by its name.
SELECT id FROM vector_model WHERE name = :name AND dim = :dim;

-- name: add_model
-- A new one.
INSERT INTO vector_model (name, dim, created_at) VALUES (:name, :dim, :at) ON CONFLICT (name, dim) DO NOTHING;

-- name: centre
-- Dimension and centre of a model.
SELECT dim, centre FROM vector_model WHERE id = :model;

-- name: set_centre
-- The centre, once there are vectors enough.
UPDATE vector_model SET centre = :centre WHERE id = :model;

-- name: claim
-- Marks a passage as having a vector of the model, if it is there.
UPDATE passage SET vector_model = :model, seq = :seq WHERE id = :id AND vault_id = :vault;

-- name: set_vector
-- The vector.
INSERT INTO vector (passage_id, model_id, vec) VALUES (:id, :model, :vec)
ON CONFLICT (passage_id) DO UPDATE SET model_id = excluded.model_id, vec = excluded.vec;

-- name: set_signature
-- Its signature.
INSERT INTO signature (passage_id, bits) VALUES (:id, :bits)
ON CONFLICT (passage_id) DO UPDATE SET bits = excluded.bits;

-- name: vectors_of
-- The vectors of a model.
SELECT passage_id, vec FROM vector WHERE model_id = :model;

-- name: number_of
-- How many passages have a vector of a model.
SELECT COALESCE(SUM(passages), 0) FROM passage_count WHERE vector_model = :model;

-- name: vectors
-- Those of some passages.
SELECT passage_id, vec FROM vector WHERE model_id = :model AND passage_id IN carray(:ids);

-- name: vectors_in_vault
-- Those of some passages of a vault.
SELECT v.passage_id, v.vec FROM vector v JOIN passage p ON p.id = v.passage_id
WHERE v.model_id = :model AND p.vault_id = :vault AND v.passage_id IN carray(:ids);

-- name: vectors_of_memories
-- Those of the current passages of some memories.
SELECT m.id, v.vec FROM memory m
JOIN passage p ON p.memory_n = m.n AND p.valid_to IS NULL
LEFT JOIN vector v ON v.passage_id = p.id AND v.model_id = :model
WHERE m.vault_id = :vault AND m.id IN (:ids...);

-- name: changed_signatures
-- What a process keeps in memory of the passages that changed after a time; no bits when there is no
-- signature of the model.
SELECT p.id, p.scope_id, p.live, s.bits
FROM passage p LEFT JOIN signature s ON s.passage_id = p.id AND p.vector_model = :model WHERE p.seq > :seq;

-- name: signatures
-- The same for every passage with a vector of the model.
SELECT p.id, p.scope_id, p.live, s.bits FROM passage_count c
CROSS JOIN passage p ON p.scope_id = c.scope_id AND p.live = c.live AND p.vector_model = c.vector_model
CROSS JOIN signature s ON s.passage_id = p.id
WHERE c.vector_model = :model;

-- name: changed
-- Passages with a vector of the model that changed after a time.
SELECT p.id FROM passage p WHERE p.seq > :seq AND p.vector_model = :model;

-- name: qualifying
-- Passages with a vector of the model that the filter lets through, up to a bound.
SELECT p.id FROM memory m CROSS JOIN passage p ON p.memory_n = m.n {joins}
WHERE p.vector_model = :model AND {where} LIMIT :limit;

-- name: qualifying_texts
-- Passages that the filter lets through, with their tokens, up to a bound.
SELECT p.id, p.memory_id, p.tokens, p.length
FROM memory m CROSS JOIN passage p ON p.memory_n = m.n {joins}
WHERE {where} LIMIT :limit;

-- name: embedded
-- The live passages of some scopes with a vector of the model.
SELECT p.id FROM passage p WHERE p.scope_id IN carray(:ids) AND p.live = 1 AND p.vector_model = :model;

-- name: embedded_total
-- How many those are.
SELECT COALESCE(SUM(passages), 0) FROM passage_count
WHERE scope_id IN carray(:ids) AND live = 1 AND vector_model = :model;

-- name: waiting
-- Where passages without a vector of the model are.
SELECT scope_id, live, vector_model FROM passage_count WHERE vector_model <> :model AND passages > 0
ORDER BY live DESC;

-- name: pending
-- The oldest of them in one place, with the text that they were cut from: of today, or from before it was replaced.
SELECT p.id, p.vault_id, p.memory_id, p.start_at, p.end_at, CASE WHEN p.valid_to IS NULL THEN m.text ELSE (
    SELECT r.text FROM revision r WHERE r.vault_id = p.vault_id AND r.id = p.memory_id AND r.at >= p.valid_to
    ORDER BY r.version LIMIT 1
) END
FROM passage p CROSS JOIN memory m ON m.n = p.memory_n
WHERE p.scope_id = :scope_id AND p.live = :live AND p.vector_model = :vector_model ORDER BY p.id LIMIT :limit;

-- name: oldest_pending
-- When the text of the first few of them became current.
SELECT MIN(valid_from) FROM (
    SELECT p.valid_from FROM passage p
    WHERE p.scope_id = :scope_id AND p.live = 1 AND p.vector_model = :vector_model ORDER BY p.id LIMIT 50
);

-- name: totals
-- Numbers of passages by scope and vector model.
SELECT scope_id, vector_model, passages FROM passage_count WHERE scope_id IN carray(:ids) AND live = 1 AND passages > 0;

-- name: models
-- Vectors by the names of their models.
SELECT n.name, SUM(c.passages) FROM passage_count c JOIN vector_model n ON n.id = c.vector_model
WHERE c.scope_id IN carray(:ids) AND c.passages > 0 GROUP BY n.name;

-- name: no_centre
-- A model without vectors has no centre.
UPDATE vector_model SET centre = NULL WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.model_id = vector_model.id);

-- name: merge
-- Joins some segments of the text index.
INSERT INTO passage_text (passage_text, rank) VALUES ('merge', 64);

-- name: optimize
-- Joins all of them, which leaves deleted entries out.
INSERT INTO passage_text (passage_text) VALUES ('optimize');
