-- The approved hash of every served record.
-- Takes no parameter.
SELECT slug, content_hash
FROM published_record
ORDER BY slug
