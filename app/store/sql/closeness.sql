-- How close each vector of the model is to the question's; narrowed to one record where it is used.
-- No parameter may be null.
SELECT embedding.record_no, 1 - (embedding.vector <=> CAST(:vector AS halfvec)) AS cosine
FROM record_embedding AS embedding
WHERE embedding.model_no = CAST(:model_no AS integer)
