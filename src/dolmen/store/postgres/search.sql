-- The search index on PostgreSQL. `{joins}` and `{where}` are of store.filter, over `m` and `p`; `{model}` and `{dim}`
-- are numbers, since a partial index is only used for a constant.
--
-- Where passages are chosen first, their memories are looked up one by one: `OFFSET 0` keeps the planner from reading all
-- memories of a scope instead, which it takes for as cheap as long as it has no statistics of a table that grows.

-- name: put
-- Passages, with their places in the vector table and in the counts; answers with their ids.
WITH fresh AS MATERIALIZED (
    SELECT nextval('passage_number') AS id, u.*
    FROM unnest(
        :memories::text[], :scopes::bigint[], :lives::bigint[], :ords::bigint[], :starts::bigint[], :ends::bigint[],
        :lengths::bigint[], :froms::bigint[], :tos::bigint[], :tokens::text[]
    ) WITH ORDINALITY
        AS u (memory_id, scope_id, live, ord, start_at, end_at, length, valid_from, valid_to, tokens, place)
), text AS (
    INSERT INTO passage (
        vault_id, id, memory_id, scope_id, live, ord, start_at, end_at, length, valid_from, valid_to, tokens
    )
    SELECT :vault, id, memory_id, scope_id, live, ord, start_at, end_at, length, valid_from, valid_to, tokens FROM fresh
), vectors AS (
    INSERT INTO passage_vector (vault_id, passage_id, live) SELECT :vault, id, live FROM fresh
), counts AS (
    INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
    SELECT :vault, scope_id, live, 0, count(*) FROM fresh GROUP BY scope_id, live
)
SELECT id FROM fresh ORDER BY place;

-- name: retire
-- The current passages of a memory whose text was replaced.
WITH changed AS (
    UPDATE passage SET live = 0, valid_to = :at
    WHERE vault_id = :vault AND memory_id = :memory AND valid_to IS NULL
    RETURNING id, scope_id
), vectors AS (
    UPDATE passage_vector v SET live = 0 FROM changed c
    WHERE v.vault_id = :vault AND v.passage_id = c.id AND v.live = 1
    RETURNING c.scope_id, v.model_id
)
INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
SELECT :vault, v.scope_id, s.live, v.model_id, sum(s.n)
FROM vectors v CROSS JOIN (VALUES (1, -1), (0, 1)) AS s (live, n)
GROUP BY v.scope_id, s.live, v.model_id;

-- name: set_live
-- The current passages of a memory that came or went.
WITH changed AS (
    UPDATE passage SET live = :live
    WHERE vault_id = :vault AND memory_id = :memory AND valid_to IS NULL AND live <> :live
    RETURNING id, scope_id
), vectors AS (
    UPDATE passage_vector v SET live = :live FROM changed c
    WHERE v.vault_id = :vault AND v.passage_id = c.id
    RETURNING c.scope_id, v.model_id
)
INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
SELECT :vault, v.scope_id, s.live, v.model_id, sum(s.n)
FROM vectors v CROSS JOIN (VALUES (1 - :live, -1), (:live, 1)) AS s (live, n)
GROUP BY v.scope_id, s.live, v.model_id;

-- name: hold_memories
-- Locks the passages of some memories, like `hold`.
SELECT id FROM passage WHERE vault_id = :vault AND memory_id = ANY(:memories::text[]) ORDER BY id FOR NO KEY UPDATE;

-- name: move
-- All passages of some memories, locked before, that now belong to another scope.
WITH old AS MATERIALIZED (
    SELECT p.id, p.scope_id, p.live, v.model_id
    FROM passage p JOIN passage_vector v ON v.vault_id = p.vault_id AND v.passage_id = p.id
    WHERE p.vault_id = :vault AND p.memory_id = ANY(:memories::text[]) AND p.scope_id <> :scope
), changed AS (
    UPDATE passage p SET scope_id = :scope FROM old WHERE p.vault_id = :vault AND p.id = old.id
)
INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
SELECT :vault, s.scope_id, old.live, old.model_id, sum(s.n)
FROM old CROSS JOIN LATERAL (VALUES (old.scope_id, -1), (:scope, 1)) AS s (scope_id, n)
GROUP BY s.scope_id, old.live, old.model_id;

-- name: hold_rows
-- Locks memories against everybody who refers to them, and waits for those who are just doing so.
SELECT id FROM memory WHERE vault_id = :vault AND id = ANY(:memories::text[]) ORDER BY id FOR UPDATE;

-- name: drop
-- All passages of some memories, for good.
WITH gone AS (
    DELETE FROM passage WHERE vault_id = :vault AND memory_id = ANY(:memories::text[]) RETURNING id, scope_id, live
), vectors AS (
    DELETE FROM passage_vector v USING gone g WHERE v.vault_id = :vault AND v.passage_id = g.id
    RETURNING g.scope_id, g.live, v.model_id
)
INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
SELECT :vault, scope_id, live, model_id, -count(*) FROM vectors GROUP BY scope_id, live, model_id;

-- name: clear_passages
-- The whole text index of a vault.
DELETE FROM passage WHERE vault_id = :vault;

-- name: clear_vectors
-- Its vectors.
DELETE FROM passage_vector WHERE vault_id = :vault;

-- name: clear_counts
-- Its counts.
DELETE FROM passage_count WHERE vault_id = :vault;

-- name: hold
-- Locks passages in the order of their ids; whoever changes a passage, its vector or its count holds this lock.
SELECT id FROM passage WHERE vault_id = :vault AND id = ANY(:ids::bigint[]) ORDER BY id FOR NO KEY UPDATE;

-- name: count_vectors
-- Counts passages over to the model whose vector they are about to get.
INSERT INTO passage_count (vault_id, scope_id, live, model_id, passages)
SELECT :vault, p.scope_id, p.live, s.model_id, sum(s.n)
FROM passage p
JOIN passage_vector v ON v.vault_id = p.vault_id AND v.passage_id = p.id
CROSS JOIN LATERAL (VALUES (v.model_id, -1), (:model, 1)) AS s (model_id, n)
WHERE p.vault_id = :vault AND p.id = ANY(:ids::bigint[]) AND v.model_id <> :model
GROUP BY p.scope_id, p.live, s.model_id;

-- name: set_vector
-- The vector of a passage, if that is still there.
UPDATE passage_vector SET model_id = :model, vec = :vec::halfvec WHERE vault_id = :vault AND passage_id = :id;

-- name: total
-- Live passages of some scopes and of the vault, and how many vectors the part of the index that holds the vault has, as
-- far as the server knows.
SELECT
    COALESCE(sum(passages) FILTER (WHERE scope_id = ANY(:scopes::bigint[])), 0)::bigint,
    COALESCE(sum(passages), 0)::bigint,
    COALESCE((
        SELECT GREATEST(c.reltuples, 0)::bigint FROM pg_class c
        WHERE c.oid = (SELECT v.tableoid FROM passage_vector v WHERE v.vault_id = :vault LIMIT 1)
    ), 0)
FROM passage_count WHERE vault_id = :vault AND live = 1;

-- name: range
-- The first and the last live passage of some scopes, to judge how far a scan came.
SELECT min(low), max(high) FROM unnest(:scopes::bigint[]) AS s (id) CROSS JOIN LATERAL (
    SELECT
        (SELECT p.id FROM passage p WHERE p.vault_id = :vault AND p.scope_id = s.id AND p.live = 1 ORDER BY p.id LIMIT 1),
        (
            SELECT p.id FROM passage p WHERE p.vault_id = :vault AND p.scope_id = s.id AND p.live = 1
            ORDER BY p.id DESC LIMIT 1
        )
) AS ends (low, high);

-- name: probe
-- For each token how many passages have it and the last one looked at, within a bound; and which, when those are all.
SELECT q.place, h.found, h.reached, CASE WHEN h.found < :bound THEN h.ids END
FROM unnest(:queries::tsquery[]) WITH ORDINALITY AS q (token, place)
CROSS JOIN LATERAL (
    SELECT count(*), max(id), array_agg(id) FROM (
        SELECT p.id FROM passage p WHERE p.vault_id = :vault AND p.tsv @@ q.token LIMIT :bound
    ) AS each
) AS h (found, reached, ids);

-- name: hits
-- Those of some passages that the filter lets through.
SELECT p.id, p.memory_id, p.tokens, p.length
FROM passage p
CROSS JOIN LATERAL (SELECT * FROM memory WHERE vault_id = :f_vault AND id = p.memory_id OFFSET 0) AS m {joins}
WHERE p.vault_id = :f_vault AND p.id = ANY(:ids::bigint[]) AND {where};

-- name: likeliest
-- Those of some passages that say most for their length, as BM25 lowers the scores of long ones, and that the filter
-- lets through.
WITH sized AS MATERIALIZED (
    SELECT p.id, s.score, p.length, (avg(p.length) OVER ())::double precision AS average
    FROM unnest(:ids::bigint[], :scores::double precision[]) AS s (id, score)
    JOIN passage p ON p.vault_id = :f_vault AND p.id = s.id
), best AS MATERIALIZED (
    SELECT id, score, average,
        score / (1 + :k1::double precision * (1 - :b::double precision * (1 - length / average))) AS damped
    FROM sized ORDER BY damped DESC, score DESC, id DESC LIMIT :keep
)
SELECT p.id, p.memory_id, best.score, p.tokens, p.length, best.average
FROM best
JOIN passage p ON p.vault_id = :f_vault AND p.id = best.id
CROSS JOIN LATERAL (SELECT * FROM memory WHERE vault_id = :f_vault AND id = p.memory_id OFFSET 0) AS m {joins}
WHERE {where}
ORDER BY best.damped DESC, best.score DESC, best.id DESC;

-- name: match
-- Passages by the weights of the tokens that they have, those that the filter lets through.
WITH ranked AS (
    SELECT h.id, sum(q.weight) AS score
    FROM unnest(:queries::tsquery[], :weights::double precision[]) AS q (token, weight)
    CROSS JOIN LATERAL (
        SELECT p.id FROM passage p WHERE p.vault_id = :f_vault AND p.tsv @@ q.token LIMIT :bound
    ) AS h
    GROUP BY h.id
    ORDER BY score DESC, h.id DESC
    LIMIT :most
)
SELECT p.id, p.memory_id, ranked.score, p.tokens, p.length
FROM ranked
JOIN passage p ON p.vault_id = :f_vault AND p.id = ranked.id
CROSS JOIN LATERAL (SELECT * FROM memory WHERE vault_id = :f_vault AND id = p.memory_id OFFSET 0) AS m {joins}
WHERE {where}
ORDER BY ranked.score DESC, ranked.id DESC
LIMIT :limit;

-- name: few
-- Passages that the filter lets through, with their tokens, up to a bound.
SELECT p.id, p.memory_id, p.tokens, p.length
FROM memory m JOIN passage p ON p.vault_id = :f_vault AND p.memory_id = m.id {joins}
WHERE {where} LIMIT :bound;

-- name: model
-- A vector model by its name.
SELECT id FROM vector_model WHERE name = :name AND dim = :dim;

-- name: add_model
-- A new one.
INSERT INTO vector_model (name, dim, created_at) VALUES (:name, :dim, :at) ON CONFLICT (name, dim) DO NOTHING;

-- name: add_hnsw
-- Its index, over the vectors of current text: what was replaced is searched exactly, and rarely.
CREATE INDEX IF NOT EXISTS passage_vector_hnsw_{model} ON passage_vector
USING hnsw ((vec::halfvec({dim})) halfvec_cosine_ops) WHERE model_id = {model} AND live = 1;

-- name: dimension
-- Of a model.
SELECT dim FROM vector_model WHERE id = :model;

-- name: qualifying
-- How many memories the filter lets through, up to a bound.
SELECT count(*) FROM (SELECT 1 FROM memory m {joins} WHERE {where} LIMIT :bound) AS few;

-- name: exact
-- The nearest among all passages that the filter lets through.
WITH best AS (
    SELECT p.id, 1 - (v.vec <=> :query::halfvec) AS cosine
    FROM passage p
    JOIN passage_vector v ON v.vault_id = :f_vault AND v.passage_id = p.id AND v.model_id = :model
    JOIN memory m ON m.vault_id = :f_vault AND m.id = p.memory_id {joins}
    WHERE p.vault_id = :f_vault AND p.live = :live AND p.scope_id = ANY(:scopes::bigint[]) AND {where}
    ORDER BY cosine DESC, p.id LIMIT :limit
)
SELECT p.id, p.memory_id, best.cosine, p.tokens, p.length
FROM best JOIN passage p ON p.vault_id = :f_vault AND p.id = best.id
ORDER BY best.cosine DESC, best.id;

-- name: closest
-- The nearest live passages of some scopes, of which nearly all pass the filter: so it is asked about these only.
WITH best AS (
    SELECT p.id, 1 - (v.vec <=> :query::halfvec) AS cosine
    FROM passage p JOIN passage_vector v ON v.vault_id = :f_vault AND v.passage_id = p.id AND v.model_id = :model
    WHERE p.vault_id = :f_vault AND p.live = 1 AND p.scope_id = ANY(:scopes::bigint[])
    ORDER BY cosine DESC, p.id LIMIT :most
)
SELECT p.id, p.memory_id, best.cosine, p.tokens, p.length
FROM best
JOIN passage p ON p.vault_id = :f_vault AND p.id = best.id
CROSS JOIN LATERAL (SELECT * FROM memory WHERE vault_id = :f_vault AND id = p.memory_id OFFSET 0) AS m {joins}
WHERE {where}
ORDER BY best.cosine DESC, best.id LIMIT :limit;

-- name: nearest
-- The nearest by the model's index; it goes on until enough have passed the filter.
SELECT p.id, p.memory_id, 1 - (v.vec::halfvec({dim}) <=> :query::halfvec), p.tokens, p.length
FROM passage_vector v
JOIN passage p ON p.vault_id = v.vault_id AND p.id = v.passage_id
CROSS JOIN LATERAL (SELECT * FROM memory WHERE vault_id = :f_vault AND id = p.memory_id OFFSET 0) AS m {joins}
WHERE v.vault_id = :f_vault AND v.model_id = {model} AND v.live = 1 AND {where}
ORDER BY v.vec::halfvec({dim}) <=> :query::halfvec
LIMIT :limit;

-- name: cosines
-- Of some passages.
SELECT passage_id, 1 - (vec <=> :query::halfvec) FROM passage_vector
WHERE vault_id = :vault AND model_id = :model AND passage_id = ANY(:ids::bigint[]);

-- name: vectors_of_memories
-- Those of the current passages of some memories; null for one that has none of the model.
SELECT p.memory_id, v.vec FROM passage p
LEFT JOIN passage_vector v ON v.vault_id = p.vault_id AND v.passage_id = p.id AND v.model_id = :model
WHERE p.vault_id = :vault AND p.memory_id = ANY(:ids::text[]) AND p.valid_to IS NULL;

-- name: sample
-- Vectors of the live passages of some scopes.
SELECT v.vec FROM passage p JOIN passage_vector v ON v.vault_id = p.vault_id AND v.passage_id = p.id
WHERE p.vault_id = :vault AND p.scope_id = ANY(:scopes::bigint[]) AND p.live = 1 AND v.model_id = :model LIMIT :size;

-- name: sparse_sample
-- The same of many passages among many more of other scopes, spread evenly over them.
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY id) AS place, count(*) OVER () AS number FROM passage
    WHERE vault_id = :vault AND scope_id = ANY(:scopes::bigint[]) AND live = 1
)
SELECT v.vec FROM seen JOIN passage_vector v ON v.vault_id = :vault AND v.passage_id = seen.id
WHERE seen.place % GREATEST(seen.number / :size, 1) = 0 AND v.model_id = :model LIMIT :size;

-- name: spread_sample
-- The same of many passages, spread evenly over the vault.
WITH ends AS (
    SELECT
        (SELECT passage_id FROM passage_vector WHERE vault_id = :vault ORDER BY passage_id LIMIT 1) AS low,
        (SELECT passage_id FROM passage_vector WHERE vault_id = :vault ORDER BY passage_id DESC LIMIT 1) AS high
)
SELECT DISTINCT ON (v.passage_id) v.vec
FROM ends
CROSS JOIN LATERAL generate_series(low, high, GREATEST((high - low) / :size, 1)) AS start (id)
CROSS JOIN LATERAL (
    SELECT passage_id, model_id, live, vec FROM passage_vector
    WHERE vault_id = :vault AND passage_id >= start.id ORDER BY passage_id LIMIT 1
) AS v
JOIN passage p ON p.vault_id = :vault AND p.id = v.passage_id AND p.scope_id = ANY(:scopes::bigint[])
WHERE v.model_id = :model AND v.live = 1;

-- name: pending
-- The first passages without a vector of the model, with the text that they were cut from.
WITH others AS (
    SELECT 0 AS id UNION ALL SELECT n.id FROM vector_model n WHERE n.id <> :model
), first AS MATERIALIZED (
    SELECT v.vault_id, v.passage_id, v.live FROM others CROSS JOIN LATERAL (
        SELECT vault_id, passage_id, live FROM passage_vector WHERE model_id = others.id
        ORDER BY live DESC, passage_id LIMIT :limit
    ) AS v
    ORDER BY v.live DESC, v.passage_id LIMIT :limit
)
SELECT p.id, p.memory_id, p.vault_id, p.start_at, p.end_at, CASE WHEN p.valid_to IS NULL THEN m.text ELSE (
    SELECT r.text FROM revision r WHERE r.vault_id = p.vault_id AND r.id = p.memory_id AND r.at >= p.valid_to
    ORDER BY r.version LIMIT 1
) END
FROM first f
JOIN passage p ON p.vault_id = f.vault_id AND p.id = f.passage_id
JOIN memory m ON m.vault_id = p.vault_id AND m.id = p.memory_id
ORDER BY f.live DESC, f.passage_id;

-- name: totals
-- Numbers of live passages of some scopes by their vectors' model.
SELECT model_id, sum(passages)::bigint FROM passage_count
WHERE vault_id = :vault AND scope_id = ANY(:scopes::bigint[]) AND live = 1
GROUP BY model_id HAVING sum(passages) > 0;

-- name: models
-- Vectors of some scopes by the names of their models.
SELECT n.name, sum(c.passages)::bigint FROM passage_count c JOIN vector_model n ON n.id = c.model_id
WHERE c.vault_id = :vault AND c.scope_id = ANY(:scopes::bigint[])
GROUP BY n.name HAVING sum(c.passages) > 0;

-- name: oldest_pending
-- When the text of the first few passages without a vector of the model became current.
SELECT min(valid_from) FROM (
    SELECT p.valid_from FROM passage_vector v JOIN passage p ON p.vault_id = v.vault_id AND p.id = v.passage_id
    WHERE v.vault_id = :vault AND v.model_id = ANY(:others::bigint[]) AND v.live = 1
      AND p.scope_id = ANY(:scopes::bigint[])
    ORDER BY v.passage_id LIMIT 50
) AS first;

-- name: spans
-- Where passages stand in their texts.
SELECT id, start_at, end_at FROM passage WHERE vault_id = :vault AND id = ANY(:ids::bigint[]);
