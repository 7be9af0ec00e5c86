-- How often and where each term of a question occurs, from the postings that publishing made.
-- :reach is how many records of a term are looked at, those with the highest impact; no parameter may be null.
SELECT
    posting.term, posting.document_frequency,
    posting.records[1 : CAST(:reach AS integer)] AS records,
    posting.impacts[1 : CAST(:reach AS integer)] AS impacts
FROM term_posting AS posting
WHERE posting.term = ANY (CAST(:terms AS text[]))
