CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line || E'\n'; END LOOP;
  RETURN plan;
END $$;

CREATE TABLE api (doc jsonb);
INSERT INTO api SELECT jsonb_build_object('company', 'c' || g, 'n', g) FROM generate_series(1, 20000) g;
CREATE INDEX ix_api_doc ON api USING gin (doc);
ANALYZE api;
DO $$ DECLARE plan text := plan_of($q$SELECT * FROM api WHERE doc @> '{"company": "c5"}'$q$);
BEGIN ASSERT plan LIKE '%ix_api_doc%', plan; END $$;
DO $$ BEGIN ASSERT NOT '{"n": 5}'::jsonb @> '{"n": "5"}', 'types are compared'; END $$;
