-- Served records by slug or by id, whole, so that each can be held against its approval.
-- Empty arrays match nothing; no parameter may be null.
SELECT slug, record_id, topic, title, content_version, content_hash, approved_at, CAST(body AS text) AS body
FROM published_record
WHERE slug = ANY (CAST(:slugs AS text[])) OR record_id = ANY (CAST(:ids AS uuid[]))
