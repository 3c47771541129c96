-- 0008 bounds: how much a connection may ask for, and its own write policy. NULL: what its door or its vault says.

ALTER TABLE connection ADD COLUMN per_minute INTEGER;
ALTER TABLE connection ADD COLUMN per_hour INTEGER;
ALTER TABLE connection ADD COLUMN per_day INTEGER;
ALTER TABLE connection ADD COLUMN at_once INTEGER;
ALTER TABLE connection ADD COLUMN memories INTEGER;
ALTER TABLE connection ADD COLUMN write_policy TEXT CHECK (write_policy IN ('conflicts', 'review', 'direct'));
