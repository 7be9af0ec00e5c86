-- Records with a vector nearest to the question's, of all and of those about :technologies; every vector of the model is compared.
-- :technologies may be empty. No parameter may be null.
SELECT ranked.record_no
FROM (
    SELECT
        near.record_no, near.about,
        row_number() OVER (ORDER BY near.distance, near.slug) AS place,
        row_number() OVER (PARTITION BY near.about ORDER BY near.distance, near.slug) AS place_about
    FROM (
        SELECT
            record.record_no, record.slug,
            cardinality(CAST(:technologies AS text[])) > 0 AND (
                record.technologies && CAST(:technologies AS text[]) OR cardinality(record.technologies) = 0
            ) AS about,
            min(embedding.vector <=> CAST(:vector AS halfvec)) AS distance
        FROM record_embedding AS embedding
        JOIN published_record AS record USING (record_no)
        WHERE embedding.model_no = CAST(:model_no AS integer)
        GROUP BY record.record_no, record.slug, about
    ) AS near
) AS ranked
WHERE ranked.place <= CAST(:per_leg AS integer) OR (ranked.about AND ranked.place_about <= CAST(:per_leg AS integer))
