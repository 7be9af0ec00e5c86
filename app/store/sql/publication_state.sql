-- What is served now and with which active embedding models; no row before the first publish, a null model without vectors.
-- Takes no parameter.
SELECT
    publication.generation, publication.published_at, publication.ledger_head, publication.demo, publication.document_count,
    publication.facts, model.model_no, model.model_id, model.revision, model.dims, model.covered, model.indexed
FROM publication
LEFT JOIN embedding_model AS model ON model.active
ORDER BY model.model_no
