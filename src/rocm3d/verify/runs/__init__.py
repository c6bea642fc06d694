"""Verdicts of recorded runs: environment, expectations, artifacts and backends."""
