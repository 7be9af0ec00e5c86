-- Hash of the last line of the ledger that was published from; no row before the first publish.
-- Takes no parameter.
SELECT ledger_head FROM publication
