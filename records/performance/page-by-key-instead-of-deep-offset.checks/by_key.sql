CREATE TABLE post (id int, created_at timestamptz NOT NULL);
INSERT INTO post SELECT g, timestamptz '2026-01-01 00:00Z' + (g / 3) * interval '1 s' FROM generate_series(1, 20000) g;
CREATE INDEX ix_post ON post (created_at, id);
VACUUM ANALYZE post;
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
DO $$
DECLARE plan json; read numeric;
BEGIN
  EXECUTE $q$EXPLAIN (ANALYZE, FORMAT JSON)
    SELECT * FROM post WHERE (created_at, id) < (timestamptz '2026-01-01 01:00Z', 10801)
    ORDER BY created_at DESC, id DESC LIMIT 10$q$ INTO plan;
  read := (plan -> 0 -> 'Plan' -> 'Plans' -> 0 ->> 'Actual Rows')::numeric;
  ASSERT read = 10, 'read ' || round(read);
END $$;
