-- The same as nearest_exact, of the records whose vectors the model's HNSW index gives; its expression and predicate must be met word for word: {model_no}, {dims}.
-- :technologies may be empty. :vectors is how many vectors are taken so that :per_leg records are among them.
(
    SELECT record.record_no
    FROM (
        SELECT DISTINCT vectors.record_no
        FROM (
            SELECT embedding.record_no
            FROM record_embedding AS embedding
            WHERE embedding.model_no = {model_no}
            ORDER BY CAST(embedding.vector AS halfvec({dims})) <=> CAST(:vector AS halfvec({dims}))
            LIMIT CAST(:vectors AS integer)
        ) AS vectors
    ) AS near
    JOIN published_record AS record USING (record_no)
    CROSS JOIN LATERAL (
        SELECT avg(best.distance) AS distance
        FROM (
            SELECT own.vector <=> CAST(:vector AS halfvec) AS distance
            FROM record_embedding AS own
            WHERE own.model_no = {model_no} AND own.record_no = near.record_no
            ORDER BY distance
            LIMIT 3
        ) AS best
    ) AS three
    ORDER BY three.distance, record.slug
    LIMIT CAST(:per_leg AS integer)
)
UNION
(
    SELECT record.record_no
    FROM (
        SELECT DISTINCT vectors.record_no
        FROM (
            SELECT embedding.record_no
            FROM record_embedding AS embedding
            WHERE embedding.model_no = {model_no}
                AND cardinality(CAST(:technologies AS text[])) > 0
                AND EXISTS (
                    SELECT FROM published_record AS about
                    WHERE about.record_no = embedding.record_no
                        AND (about.technologies && CAST(:technologies AS text[]) OR cardinality(about.technologies) = 0)
                )
            ORDER BY CAST(embedding.vector AS halfvec({dims})) <=> CAST(:vector AS halfvec({dims}))
            LIMIT CAST(:vectors AS integer)
        ) AS vectors
    ) AS near
    JOIN published_record AS record USING (record_no)
    CROSS JOIN LATERAL (
        SELECT avg(best.distance) AS distance
        FROM (
            SELECT own.vector <=> CAST(:vector AS halfvec) AS distance
            FROM record_embedding AS own
            WHERE own.model_no = {model_no} AND own.record_no = near.record_no
            ORDER BY distance
            LIMIT 3
        ) AS best
    ) AS three
    ORDER BY three.distance, record.slug
    LIMIT CAST(:per_leg AS integer)
)
