-- How many different questions found nothing, by month and by what they were about. A repeated one counts once.
-- :since day, :failures text[] of reasons for which a search may have missed what is there; neither may be null.
WITH missed AS (
    SELECT
        CAST(date_trunc('month', event.hour, 'UTC') AT TIME ZONE 'UTC' AS date) AS month,
        event.query_hash, topic, technology, record
    FROM retrieval_event AS event
    LEFT JOIN LATERAL unnest(event.topics) AS topic ON true
    LEFT JOIN LATERAL unnest(event.technologies) AS technology ON true
    LEFT JOIN LATERAL unnest(event.near) AS record ON true
    WHERE
        event.mode = 'no_match' AND event.hour >= CAST(:since AS date)
        AND (event.degraded_reason IS NULL OR event.degraded_reason <> ALL (CAST(:failures AS text[])))
),
counted AS (
    SELECT
        month,
        CASE grouping(topic, technology, record)
            WHEN 7 THEN 'all' WHEN 3 THEN 'topic' WHEN 5 THEN 'technology' WHEN 1 THEN 'topic_and_technology'
            ELSE 'record'
        END AS aspect,
        topic, technology, record, count(DISTINCT query_hash) AS questions
    FROM missed
    GROUP BY GROUPING SETS ((month), (month, topic), (month, technology), (month, topic, technology), (month, record))
)
-- A pair of nothing and something says no more than the something by itself.
SELECT month, aspect, topic, technology, record, questions
FROM counted
WHERE
    aspect IN ('all', 'topic', 'technology')
    OR (aspect = 'topic_and_technology' AND topic IS NOT NULL AND technology IS NOT NULL)
    OR (aspect = 'record' AND record IS NOT NULL)
ORDER BY month, aspect, topic, technology, record
