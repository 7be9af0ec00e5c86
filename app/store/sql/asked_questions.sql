-- How many different questions were asked; one asked in two months counts twice, for its hash is another then.
-- :since day, not null.
SELECT count(*)
FROM (
    SELECT DISTINCT date_trunc('month', hour, 'UTC') AS month, query_hash
    FROM retrieval_event
    WHERE hour >= CAST(:since AS date)
) AS asked
