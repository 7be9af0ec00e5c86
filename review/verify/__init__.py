"""Executed checks: the proofs of records, run against real software in a confined process."""
