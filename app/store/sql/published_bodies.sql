-- Every served record as it is stored, to be checked against its approved hash.
-- Takes no parameter.
SELECT slug, topic, title, content_hash, body
FROM published_record
ORDER BY slug
