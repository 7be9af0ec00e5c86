-- Served records by slug or by id, whole, so that each can be held against its approval.
-- One of more than :stored bytes in storage or :longest unpacked says null, and is not even read. Empty arrays match nothing; no parameter may be null.
SELECT
    record.slug, record.record_id, record.content_version, record.approved_at,
    -- A day that Python has not, such as infinity, must not stop the other records.
    CASE WHEN record.verified_on BETWEEN '0001-01-01' AND '9999-12-31' THEN record.verified_on END AS verified_on,
    said.topic, said.title, said.content_hash, said.applies_to, said.task_types, said.body
FROM published_record AS record
LEFT JOIN LATERAL (
    SELECT
        record.topic, record.title, record.content_hash, CAST(record.applies_to AS text) AS applies_to,
        CAST(record.task_types AS text) AS task_types, CAST(record.body AS text) AS body
    WHERE
        pg_column_size(record.topic) + pg_column_size(record.title) + pg_column_size(record.content_hash)
        + pg_column_size(record.applies_to) + pg_column_size(record.task_types) + pg_column_size(record.body)
        <= CAST(:stored AS integer)
    OFFSET 0
) AS unpacked ON true
LEFT JOIN LATERAL (
    SELECT unpacked.*
    WHERE
        octet_length(unpacked.topic) + octet_length(unpacked.title) + octet_length(unpacked.content_hash)
        + octet_length(unpacked.applies_to) + octet_length(unpacked.task_types) + octet_length(unpacked.body)
        <= CAST(:longest AS integer)
) AS said ON true
WHERE record.slug = ANY (CAST(:slugs AS text[])) OR record.record_id = ANY (CAST(:ids AS uuid[]))
