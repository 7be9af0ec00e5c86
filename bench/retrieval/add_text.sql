-- Add a text.
-- No parameter may be null.
INSERT INTO bench_text (id, words) VALUES (:id, to_tsvector(CAST('pg_catalog.english' AS regconfig), CAST(:raw AS text)))
