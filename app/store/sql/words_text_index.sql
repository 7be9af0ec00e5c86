-- The same as words_posted, made from the text index where the postings are lost: slower and less exact, but on the same scale.
-- :ceiling is the highest impact a term can have; no parameter may be null.
SELECT
    found.term, CAST(count(*) AS integer) AS document_frequency,
    array_agg(found.record_no) AS records,
    array_agg(found.impact) AS impacts
FROM (
    SELECT
        term, record.record_no,
        CAST(:ceiling AS float8) * ts_rank(record.search_text, plainto_tsquery(CAST('pg_catalog.english' AS regconfig), term), 32) AS impact
    FROM unnest(CAST(:terms AS text[])) AS term
    JOIN published_record AS record ON record.search_text @@ plainto_tsquery(CAST('pg_catalog.english' AS regconfig), term)
    ORDER BY term, impact DESC, record.slug
) AS found
GROUP BY found.term
