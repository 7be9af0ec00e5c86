-- The same as nearest_exact through the model's HNSW index, whose expression and predicate must be met word for word: {model_no}, {dims}.
-- :technologies may be empty. :vectors is how many vectors are taken so that :per_leg records are among them.
(
    SELECT record.record_no
    FROM (
        SELECT embedding.record_no, CAST(embedding.vector AS halfvec({dims})) <=> CAST(:vector AS halfvec({dims})) AS distance
        FROM record_embedding AS embedding
        WHERE embedding.model_no = {model_no}
        ORDER BY CAST(embedding.vector AS halfvec({dims})) <=> CAST(:vector AS halfvec({dims}))
        LIMIT CAST(:vectors AS integer)
    ) AS near
    JOIN published_record AS record USING (record_no)
    GROUP BY record.record_no, record.slug
    ORDER BY min(near.distance), record.slug
    LIMIT CAST(:per_leg AS integer)
)
UNION
(
    SELECT record.record_no
    FROM (
        SELECT embedding.record_no, CAST(embedding.vector AS halfvec({dims})) <=> CAST(:vector AS halfvec({dims})) AS distance
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
    ) AS near
    JOIN published_record AS record USING (record_no)
    GROUP BY record.record_no, record.slug
    ORDER BY min(near.distance), record.slug
    LIMIT CAST(:per_leg AS integer)
)
