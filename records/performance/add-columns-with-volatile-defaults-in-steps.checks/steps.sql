CREATE TABLE t (id int);
INSERT INTO t SELECT generate_series(1, 1000);
CREATE TABLE before AS SELECT pg_relation_filenode('t') AS node;
ALTER TABLE t ADD COLUMN made timestamptz NOT NULL DEFAULT now();
ALTER TABLE t ADD COLUMN token uuid;
ALTER TABLE t ALTER COLUMN token SET DEFAULT gen_random_uuid();
UPDATE t SET token = gen_random_uuid() WHERE token IS NULL;
ALTER TABLE t ADD CONSTRAINT token_set CHECK (token IS NOT NULL) NOT VALID;
ALTER TABLE t VALIDATE CONSTRAINT token_set;
ALTER TABLE t ALTER COLUMN token SET NOT NULL;
ALTER TABLE t DROP CONSTRAINT token_set;
DO $$ BEGIN
  ASSERT (SELECT node = pg_relation_filenode('t') FROM before), 'table was rewritten';
END $$;
