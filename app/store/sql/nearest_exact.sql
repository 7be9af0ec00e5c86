-- Records with a vector nearest to the question's; every vector of the model is compared.
-- :technologies empty: no narrowing. No other parameter may be null.
SELECT record.record_no
FROM record_embedding AS embedding
JOIN published_record AS record USING (record_no)
WHERE embedding.model_no = CAST(:model_no AS integer)
    AND (
        cardinality(CAST(:technologies AS text[])) = 0
        OR record.technologies && CAST(:technologies AS text[])
        OR cardinality(record.technologies) = 0
    )
GROUP BY record.record_no, record.slug
ORDER BY min(embedding.vector <=> CAST(:vector AS halfvec)), record.slug
LIMIT CAST(:per_leg AS integer)
