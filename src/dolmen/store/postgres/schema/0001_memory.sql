-- 0001 memory: vaults and who acts in them, memories with their revisions and links, proposals, and the search index.
-- The same tables and columns as the embedded engine's file of this number; only the search index below differs.
-- Times are microseconds since the epoch, booleans 0 and 1, JSON is text. Text sorts by its bytes, as in SQLite.
-- Every key leads with the vault and large tables are split by it, so that no statement needs more than one partition
-- and the same schema can be spread over several servers by vault.

CREATE TABLE schema_migration (
    number     bigint PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    checksum   text COLLATE "C" NOT NULL,
    applied_at bigint NOT NULL
);

CREATE TABLE vault (
    id         text COLLATE "C" PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    scopes     bigint NOT NULL DEFAULT 0
);

CREATE TABLE person (
    vault_id   text COLLATE "C" NOT NULL REFERENCES vault (id),
    id         text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    role       text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'member')),
    created_at bigint NOT NULL,
    removed_at bigint,
    PRIMARY KEY (vault_id, id)
);

-- A credential that an agent uses. Only a hash of the secret is kept.
CREATE TABLE connection (
    vault_id     text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    person_id    text COLLATE "C" NOT NULL,
    agent        text COLLATE "C" NOT NULL,
    mode         text COLLATE "C" NOT NULL CHECK (mode IN ('read', 'suggest', 'write', 'admin')),
    toolset      text COLLATE "C" NOT NULL,
    project      text COLLATE "C",
    label        text COLLATE "C" NOT NULL DEFAULT '',
    hint         text COLLATE "C" NOT NULL DEFAULT '',
    secret_hash  text COLLATE "C" NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint,
    revoked_at   bigint,
    last_used_at bigint,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, person_id) REFERENCES person (vault_id, id)
);
CREATE UNIQUE INDEX connection_secret ON connection (secret_hash);

-- `user`, or `project:<identity>`. A renamed project keeps its old name as an alias of the new one, one step deep.
-- Rows are never deleted, and `vault.scopes` counts their changes, so that a process can keep them in memory.
CREATE SEQUENCE scope_number;
CREATE TABLE scope (
    vault_id   text COLLATE "C" NOT NULL REFERENCES vault (id),
    id         bigint NOT NULL DEFAULT nextval('scope_number'),
    name       text COLLATE "C" NOT NULL,
    alias_of   bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, alias_of) REFERENCES scope (vault_id, id)
);
CREATE UNIQUE INDEX scope_name ON scope (vault_id, name);

-- The long columns come last: a row is often read for its first ones only. No row number `n` as on the embedded engine:
-- the database has its own.
CREATE TABLE memory (
    vault_id      text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    scope_id      bigint NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    label         text COLLATE "C" NOT NULL,
    status        text COLLATE "C" NOT NULL CHECK (status IN ('proposed', 'active', 'superseded', 'deleted')),
    trust         text COLLATE "C" NOT NULL CHECK (trust IN ('user', 'agent', 'external')),
    verification  text COLLATE "C" NOT NULL
        CHECK (verification IN ('verified', 'accepted', 'unverified', 'stale', 'rejected')),
    folder        text COLLATE "C" NOT NULL,
    tags          text COLLATE "C" NOT NULL,
    importance    double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
    pinned        smallint NOT NULL CHECK (pinned IN (0, 1)),
    agent         text COLLATE "C" NOT NULL,
    person        text COLLATE "C" NOT NULL,
    connection    text COLLATE "C" NOT NULL,
    session       text COLLATE "C" NOT NULL,
    case_id       text COLLATE "C",
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL,
    expires_at    bigint,
    supersedes    text COLLATE "C",
    superseded_by text COLLATE "C",
    verified_by   text COLLATE "C" NOT NULL,
    version       bigint NOT NULL CHECK (version >= 1),
    content_key   text COLLATE "C" NOT NULL,
    title         text COLLATE "C" NOT NULL,
    source        text COLLATE "C" NOT NULL,
    case_fields   text COLLATE "C",
    attrs         text COLLATE "C" NOT NULL,
    text          text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, scope_id) REFERENCES scope (vault_id, id)
) PARTITION BY HASH (vault_id);
CREATE TABLE memory_0 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE memory_1 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE memory_2 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE memory_3 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE memory_4 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE memory_5 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE memory_6 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE memory_7 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX memory_created ON memory (vault_id, created_at, id);
CREATE INDEX memory_scope ON memory (vault_id, scope_id, status, created_at, id);
CREATE INDEX memory_kind ON memory (vault_id, scope_id, status, kind, expires_at);
CREATE INDEX memory_case ON memory (vault_id, case_id) WHERE case_id IS NOT NULL;
CREATE INDEX memory_session ON memory (vault_id, session) WHERE session <> '';
CREATE INDEX memory_expiry ON memory (vault_id, expires_at) WHERE expires_at IS NOT NULL;
-- The same statement is kept once per kind and scope (C-110), however many writers race.
CREATE UNIQUE INDEX memory_statement ON memory (vault_id, scope_id, label, kind, content_key)
    WHERE status IN ('proposed', 'active');

-- What belongs to a memory refers to it, so that a purge waits for those who are just adding to it and they for the
-- purge: no word of it stays behind. `link.target` does not: it may name a memory that is not here yet.

-- The current tags once more, so that they can be looked up.
CREATE TABLE memory_tag (
    vault_id  text COLLATE "C" NOT NULL,
    tag       text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, tag, memory_id),
    FOREIGN KEY (vault_id, memory_id) REFERENCES memory (vault_id, id) ON DELETE CASCADE
) PARTITION BY HASH (vault_id);
CREATE TABLE memory_tag_0 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE memory_tag_1 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE memory_tag_2 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE memory_tag_3 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE memory_tag_4 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE memory_tag_5 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE memory_tag_6 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE memory_tag_7 PARTITION OF memory_tag FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX memory_tag_memory ON memory_tag (vault_id, memory_id);

-- What a memory was before each change: its columns as they were, and the change.
CREATE TABLE revision (
    vault_id          text COLLATE "C" NOT NULL,
    id                text COLLATE "C" NOT NULL,
    version           bigint NOT NULL,
    at                bigint NOT NULL,
    op                text COLLATE "C" NOT NULL,
    change_agent      text COLLATE "C" NOT NULL,
    change_person     text COLLATE "C" NOT NULL,
    change_connection text COLLATE "C" NOT NULL,
    reason            text COLLATE "C" NOT NULL,
    scope_id          bigint NOT NULL,
    kind              text COLLATE "C" NOT NULL,
    label             text COLLATE "C" NOT NULL,
    status            text COLLATE "C" NOT NULL,
    trust             text COLLATE "C" NOT NULL,
    verification      text COLLATE "C" NOT NULL,
    folder            text COLLATE "C" NOT NULL,
    tags              text COLLATE "C" NOT NULL,
    importance        double precision NOT NULL,
    pinned            smallint NOT NULL,
    agent             text COLLATE "C" NOT NULL,
    person            text COLLATE "C" NOT NULL,
    connection        text COLLATE "C" NOT NULL,
    session           text COLLATE "C" NOT NULL,
    case_id           text COLLATE "C",
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    expires_at        bigint,
    supersedes        text COLLATE "C",
    superseded_by     text COLLATE "C",
    verified_by       text COLLATE "C" NOT NULL,
    title             text COLLATE "C" NOT NULL,
    source            text COLLATE "C" NOT NULL,
    case_fields       text COLLATE "C",
    attrs             text COLLATE "C" NOT NULL,
    text              text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id, version),
    FOREIGN KEY (vault_id, id) REFERENCES memory (vault_id, id) ON DELETE CASCADE,
    FOREIGN KEY (vault_id, scope_id) REFERENCES scope (vault_id, id)
) PARTITION BY HASH (vault_id);
CREATE TABLE revision_0 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE revision_1 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE revision_2 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE revision_3 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE revision_4 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE revision_5 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE revision_6 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE revision_7 PARTITION OF revision FOR VALUES WITH (MODULUS 8, REMAINDER 7);

CREATE TABLE link (
    vault_id   text COLLATE "C" NOT NULL,
    source_id  text COLLATE "C" NOT NULL,
    rel        text COLLATE "C" NOT NULL,
    target     text COLLATE "C" NOT NULL,
    weight     double precision NOT NULL,
    created_at bigint NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, source_id, rel, target),
    FOREIGN KEY (vault_id, source_id) REFERENCES memory (vault_id, id) ON DELETE CASCADE
) PARTITION BY HASH (vault_id);
CREATE TABLE link_0 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE link_1 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE link_2 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE link_3 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE link_4 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE link_5 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE link_6 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE link_7 PARTITION OF link FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX link_target ON link (vault_id, target);

-- A repeated call with the same key gets the same memory back. The key is taken before its memory is stored.
CREATE TABLE idempotency (
    vault_id   text COLLATE "C" NOT NULL,
    connection text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    memory_id  text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (vault_id, connection, key),
    FOREIGN KEY (vault_id, memory_id) REFERENCES memory (vault_id, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX idempotency_memory ON idempotency (vault_id, memory_id);

CREATE TABLE proposal (
    vault_id      text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    op            text COLLATE "C" NOT NULL,
    memory_id     text COLLATE "C",
    base_version  bigint,
    payload       text COLLATE "C" NOT NULL,
    reason        text COLLATE "C" NOT NULL,
    because       text COLLATE "C" NOT NULL,
    status        text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'applied', 'rejected', 'withdrawn')),
    agent         text COLLATE "C" NOT NULL,
    person        text COLLATE "C" NOT NULL,
    connection    text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    decided_at    bigint,
    decided_by    text COLLATE "C" NOT NULL,
    decision_note text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, memory_id) REFERENCES memory (vault_id, id) ON DELETE CASCADE
);
CREATE INDEX proposal_status ON proposal (vault_id, status, created_at);
CREATE INDEX proposal_memory ON proposal (vault_id, memory_id);

-- What was recalled, so that feedback can name it. Written in batches; never holds a secret.
CREATE TABLE recall_event (
    vault_id   text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    connection text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    query      text COLLATE "C" NOT NULL,
    refs       text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id)
);
CREATE INDEX recall_event_at ON recall_event (vault_id, at);

CREATE TABLE feedback (
    vault_id   text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    connection text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    event_id   text COLLATE "C",
    refs       text COLLATE "C" NOT NULL,
    relevant   smallint,
    sufficient smallint,
    reason     text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id)
);

-- One row per successful request; never a credential.
CREATE TABLE audit (
    vault_id   text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    connection text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    op         text COLLATE "C" NOT NULL,
    detail     text COLLATE "C" NOT NULL,
    origin     text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, id)
);
CREATE INDEX audit_at ON audit (vault_id, at);

-- Facts about the vault that a person set: review policy, names.
CREATE TABLE vault_setting (
    vault_id text COLLATE "C" NOT NULL,
    key      text COLLATE "C" NOT NULL,
    value    text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault_id, key)
);

-- Long work that only one process at a time does; the one whose lease runs out has died.
CREATE TABLE lease (
    name  text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    until bigint NOT NULL
);

-- The search index. Everything below can be dropped and made again from the rows above.

CREATE TABLE vector_model (
    id         bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    dim        bigint NOT NULL,
    created_at bigint NOT NULL
);
CREATE UNIQUE INDEX vector_model_name ON vector_model (name, dim);

-- A stretch of a memory's text that is searched as one. `live` = current text of an active memory; a passage with
-- `valid_to` holds text that was replaced and serves as-of reads. Ids are never used twice.
-- `tsv` holds each token behind the place that it is found at, `s<scope>:` for live passages and `x<scope>:` for the
-- others: one posting list holds one token of one scope, so a search reads nothing of other scopes and vaults.
CREATE SEQUENCE passage_number;
CREATE TABLE passage (
    vault_id   text COLLATE "C" NOT NULL,
    id         bigint NOT NULL DEFAULT nextval('passage_number'),
    memory_id  text COLLATE "C" NOT NULL,
    scope_id   bigint NOT NULL,
    live       smallint NOT NULL CHECK (live IN (0, 1)),
    ord        integer NOT NULL,
    start_at   integer NOT NULL,
    end_at     integer NOT NULL,
    length     integer NOT NULL,
    valid_from bigint NOT NULL,
    valid_to   bigint,
    tokens     text COLLATE "C" NOT NULL,
    tsv        tsvector NOT NULL GENERATED ALWAYS AS (
        array_to_tsvector(string_to_array(
            (CASE live WHEN 1 THEN 's' ELSE 'x' END) || scope_id || ':'
                || replace(tokens, ' ', ' ' || (CASE live WHEN 1 THEN 's' ELSE 'x' END) || scope_id || ':'),
            ' '))
    ) STORED,
    PRIMARY KEY (vault_id, id),
    FOREIGN KEY (vault_id, memory_id) REFERENCES memory (vault_id, id) ON DELETE CASCADE
) PARTITION BY HASH (vault_id);
CREATE TABLE passage_0 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE passage_1 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE passage_2 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE passage_3 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE passage_4 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE passage_5 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE passage_6 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE passage_7 PARTITION OF passage FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX passage_memory ON passage (vault_id, memory_id);
CREATE INDEX passage_scope ON passage (vault_id, scope_id, live, id);
-- Without a pending list: every search would read it from end to end.
CREATE INDEX passage_text ON passage USING gin (tsv) WITH (fastupdate = off);

-- One row per passage: model 0 and no vector until it is embedded. Each model has an HNSW index of its own, made when
-- the model is registered. Not called `vector` as on the embedded engine: that is the name of the extension's type.
CREATE TABLE passage_vector (
    vault_id   text COLLATE "C" NOT NULL,
    passage_id bigint NOT NULL,
    model_id   bigint NOT NULL DEFAULT 0,
    live       smallint NOT NULL,
    vec        halfvec,
    PRIMARY KEY (vault_id, passage_id)
) PARTITION BY HASH (vault_id);
CREATE TABLE passage_vector_0 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE passage_vector_1 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE passage_vector_2 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE passage_vector_3 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE passage_vector_4 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE passage_vector_5 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE passage_vector_6 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE passage_vector_7 PARTITION OF passage_vector FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX passage_vector_model ON passage_vector (model_id, live DESC, passage_id);

-- How many passages there are, so that no read has to count them: the sum of the rows of a key. A write adds a row in
-- place of changing one, so that writers never wait for each other; now and then some rows are folded into one.
CREATE TABLE passage_count (
    vault_id text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    live     smallint NOT NULL,
    model_id bigint NOT NULL,
    passages bigint NOT NULL
);
CREATE INDEX passage_count_scope ON passage_count (vault_id, scope_id, live);
