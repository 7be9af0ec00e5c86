-- Whether there are any postings: a question whose words nobody uses looks the same as postings that are gone.
-- Takes no parameter.
SELECT EXISTS (SELECT FROM term_posting) AS has_postings
