-- Texts that hold any lexeme of the query, best first; equal ones by id. A query of stop words finds nothing.
-- :query is plain text, never read as a query language; :cover true ranks by cover density, false by frequency. None may be null.
WITH question AS (
    SELECT CAST(string_agg(CAST(array_to_tsvector(ARRAY[lexeme]) AS text), ' | ') AS tsquery) AS any_word
    FROM unnest(to_tsvector(CAST('pg_catalog.english' AS regconfig), CAST(:query AS text)))
)
SELECT texts.id
FROM bench_text AS texts
CROSS JOIN question
WHERE texts.words @@ question.any_word
ORDER BY
    CASE
        WHEN CAST(:cover AS boolean) THEN ts_rank_cd(texts.words, question.any_word)
        ELSE ts_rank(texts.words, question.any_word)
    END DESC,
    texts.id
LIMIT 50
