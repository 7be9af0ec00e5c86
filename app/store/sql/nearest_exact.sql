-- Records nearest to the question by the mean of their three best vectors, of all and of those about :technologies; every vector is compared.
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
            avg(compared.distance) AS distance
        FROM (
            SELECT
                measured.record_no, measured.distance,
                row_number() OVER (PARTITION BY measured.record_no ORDER BY measured.distance) AS nth
            FROM (
                SELECT embedding.record_no, embedding.vector <=> CAST(:vector AS halfvec) AS distance
                FROM record_embedding AS embedding
                WHERE embedding.model_no = CAST(:model_no AS integer)
            ) AS measured
        ) AS compared
        JOIN published_record AS record USING (record_no)
        WHERE compared.nth <= 3
        GROUP BY record.record_no, record.slug, about
    ) AS near
) AS ranked
WHERE ranked.place <= CAST(:per_leg AS integer) OR (ranked.about AND ranked.place_about <= CAST(:per_leg AS integer))
