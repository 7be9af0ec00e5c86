CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line || E'\n'; END LOOP;
  RETURN plan;
END $$;

CREATE TABLE item (id bigint PRIMARY KEY);
INSERT INTO item SELECT generate_series(1, 20000);
ANALYZE item;
DO $$ DECLARE plan text := plan_of('SELECT 1 FROM item WHERE id = 5::numeric');
BEGIN ASSERT plan LIKE '%item_pkey%', plan; END $$;
