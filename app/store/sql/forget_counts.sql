-- Delete some of the counts of days that are over; however many callers there were, each statement is short.
-- :keep_days is how many days before today are kept, :batch how many counts are deleted at most.
DELETE FROM quota_use
WHERE ctid = ANY (
    ARRAY(
        SELECT ctid FROM quota_use
        WHERE day < CAST(now() AT TIME ZONE 'UTC' AS date) - CAST(:keep_days AS integer)
        LIMIT CAST(:batch AS integer)
    )
)
