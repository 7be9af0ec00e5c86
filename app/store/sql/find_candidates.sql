-- Records that a question may be about, by words and by meaning, with every signal of each; one row of nulls beside the statistics if none.
-- Each leg brings its best of all, and its best about :technologies where any are named. {postings}, {nearest}, {closeness} are statements of their own, chosen in app/store/catalogue.py.
WITH posting AS MATERIALIZED ({postings}),
question AS (
    SELECT
        phraseto_tsquery(CAST('pg_catalog.english' AS regconfig), :phrase) AS phrase,
        plainto_tsquery(CAST('pg_catalog.english' AS regconfig), :phrase) AS words
),
-- The rarity of a term is computed once, not once for each record that holds it.
rarity AS MATERIALIZED (
    SELECT
        posting.term,
        -- Counts that nobody wrote must not end the search in an error.
        ln(
            1 + (greatest(CAST(publication.document_count AS float8) - posting.document_frequency, 0) + 0.5)
            / (greatest(CAST(posting.document_frequency AS float8), 0) + 0.5)
        ) AS idf
    FROM posting
    CROSS JOIN publication
),
hit AS MATERIALIZED (
    SELECT posting.term, entry.record_no, entry.impact * rarity.idf AS score
    FROM posting
    JOIN rarity USING (term)
    CROSS JOIN LATERAL unnest(posting.records, posting.impacts) AS entry (record_no, impact)
),
-- Rounded, because the order in which floats are added is not ours to say.
worded AS MATERIALIZED (
    SELECT hit.record_no, round(sum(hit.score) * 1e6) / 1e6 AS words FROM hit GROUP BY hit.record_no
),
-- The score of the last record that is wanted: records are looked up from the best down, and no further than that.
least AS (
    SELECT worded.words FROM worded ORDER BY worded.words DESC OFFSET CAST(:per_leg AS integer) - 1 LIMIT 1
),
by_words AS (
    SELECT worded.record_no
    FROM worded
    JOIN published_record AS record USING (record_no)
    WHERE worded.words >= COALESCE((SELECT least.words FROM least), 0)
    ORDER BY worded.words DESC, record.slug
    LIMIT CAST(:per_leg AS integer)
),
-- The same among records about a technology named or about none in particular, so that others cannot crowd them out.
least_about AS (
    SELECT ranked.words
    FROM (SELECT worded.record_no, worded.words FROM worded ORDER BY worded.words DESC) AS ranked
    JOIN published_record AS record USING (record_no)
    WHERE cardinality(CAST(:technologies AS text[])) > 0
        AND (record.technologies && CAST(:technologies AS text[]) OR cardinality(record.technologies) = 0)
    ORDER BY ranked.words DESC
    OFFSET CAST(:per_leg AS integer) - 1
    LIMIT 1
),
by_words_about AS (
    SELECT worded.record_no
    FROM worded
    JOIN published_record AS record USING (record_no)
    WHERE cardinality(CAST(:technologies AS text[])) > 0
        AND worded.words >= COALESCE((SELECT least_about.words FROM least_about), 0)
        AND (record.technologies && CAST(:technologies AS text[]) OR cardinality(record.technologies) = 0)
    ORDER BY worded.words DESC, record.slug
    LIMIT CAST(:per_leg AS integer)
),
found AS MATERIALIZED (
    SELECT record_no FROM by_words
    UNION
    SELECT record_no FROM by_words_about
    UNION
    SELECT record_no FROM ({nearest}) AS near
),
matched AS MATERIALIZED (
    SELECT hit.record_no, array_agg(hit.term) AS terms, round(sum(hit.score) * 1e6) / 1e6 AS words
    FROM hit
    JOIN found USING (record_no)
    GROUP BY hit.record_no
),
candidate AS (
    SELECT
        record.slug, record.title, record.topic, CAST(record.applies_to AS text) AS applies_to,
        CAST(record.task_types AS text) AS task_types,
        matched.words, matched.terms AS matched, closest.cosine,
        CASE
            WHEN record.search_text @@ question.phrase THEN ts_rank_cd(record.search_text, question.phrase, 32)
            WHEN record.search_text @@ question.words THEN ts_rank_cd(record.search_text, question.words, 32) / 2
            ELSE 0
        END AS phrase
    FROM found
    JOIN published_record AS record USING (record_no)
    CROSS JOIN question
    LEFT JOIN matched USING (record_no)
    LEFT JOIN LATERAL (
        SELECT round(avg(best.cosine) * 1e6) / 1e6 AS cosine
        FROM (
            SELECT vectors.cosine
            FROM ({closeness}) AS vectors
            WHERE vectors.record_no = record.record_no
            ORDER BY vectors.cosine DESC
            LIMIT 3
        ) AS best
    ) AS closest ON true
    -- A row that no publish wrote: it is withheld, and not even read.
    WHERE
        pg_column_size(record.title) + pg_column_size(record.topic)
        + pg_column_size(record.applies_to) + pg_column_size(record.task_types) <= CAST(:stored AS integer)
)
SELECT
    publication.generation, publication.document_count,
    (SELECT CAST(json_object_agg(posting.term, posting.document_frequency) AS text) FROM posting) AS document_frequency,
    candidate.*
FROM publication
LEFT JOIN candidate ON true
ORDER BY candidate.slug
