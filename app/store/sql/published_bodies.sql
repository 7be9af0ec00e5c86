-- Served records as they are stored, to be held against their approvals: a page of them, in the order of slugs.
-- :after is the last slug of the page before, "" for the first; no parameter may be null.
SELECT slug, record_id, topic, title, content_version, content_hash, approved_at, CAST(body AS text) AS body
FROM published_record
WHERE slug > CAST(:after AS text)
ORDER BY slug
LIMIT CAST(:page AS integer)
