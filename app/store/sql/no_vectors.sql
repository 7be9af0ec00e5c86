-- Nothing, in the shape of nearest_exact and closeness: the search goes by words only.
-- Takes no parameter.
SELECT CAST(NULL AS integer) AS record_no, CAST(NULL AS float8) AS cosine
WHERE false
