CREATE TABLE t (id int);
INSERT INTO t SELECT generate_series(1, 1000);
CREATE TABLE before AS SELECT pg_relation_filenode('t') AS node;
ALTER TABLE t ADD COLUMN token uuid NOT NULL DEFAULT gen_random_uuid();
DO $$ BEGIN
  ASSERT (SELECT node = pg_relation_filenode('t') FROM before), 'table was rewritten';
END $$;
