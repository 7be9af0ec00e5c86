-- Keep that a search was answered, by the hour.
-- :degraded_reason null: nothing was missing from the search.
INSERT INTO retrieval_event (hour, query_hash, topics, technologies, mode, result_count, degraded_reason, near)
VALUES (
    date_trunc('hour', now(), 'UTC'), CAST(:query_hash AS bytea), CAST(:topics AS text[]), CAST(:technologies AS text[]), :mode,
    CAST(:result_count AS integer), CAST(:degraded_reason AS text), CAST(:near AS text[])
)
