-- Served records by slug or by id. The body is text, to be read by the record's own parser; fixtures are not part of a record.
-- Empty arrays match nothing; no parameter may be null.
SELECT slug, record_id, content_version, content_hash, approved_at, CAST(body - 'fixtures' AS text) AS body
FROM published_record
WHERE slug = ANY (CAST(:slugs AS text[])) OR record_id = ANY (CAST(:ids AS uuid[]))
