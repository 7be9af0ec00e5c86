-- The ledger's lines back from one of them, newest first, until the line after :known; a page of them at a time.
-- :known is the hash of the line to stop before; a line of more than :longest bytes is null. No parameter may be null.
WITH RECURSIVE chain AS (
    SELECT 1 AS depth, hash, prev, line FROM ledger_line WHERE hash = CAST(:head AS text) AND hash <> CAST(:known AS text)
    UNION ALL
    SELECT chain.depth + 1, earlier.hash, earlier.prev, earlier.line
    FROM chain
    JOIN ledger_line AS earlier ON earlier.hash = chain.prev
    WHERE earlier.hash <> CAST(:known AS text) AND chain.depth < CAST(:page AS integer)
)
SELECT CASE WHEN octet_length(line) <= CAST(:longest AS integer) THEN line END FROM chain ORDER BY depth
