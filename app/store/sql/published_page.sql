-- Names of served records, a page of them, in their order.
-- :after is the last name of the page before, "" for the first; no parameter may be null.
SELECT slug
FROM published_record
WHERE slug > CAST(:after AS text)
ORDER BY slug
LIMIT CAST(:page AS integer)
