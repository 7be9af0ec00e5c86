CREATE TABLE account (id int, balance numeric);
INSERT INTO account SELECT g, 0 FROM generate_series(1, 100) g;
DO $$
DECLARE plan text := ''; line text;
BEGIN
  FOR line IN EXPLAIN (COSTS OFF)
    SELECT id FROM account WHERE id = ANY('{22,11}') ORDER BY id FOR NO KEY UPDATE
  LOOP plan := plan || line || E'\n'; END LOOP;
  ASSERT plan LIKE 'LockRows%Sort%', plan;
END $$;
