"""Evidence bundles: documents, files and verdicts sealed by digest, comparisons of runs, and the ledger of fixes."""
