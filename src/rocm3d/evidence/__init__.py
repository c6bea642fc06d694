"""Evidence: documents, files and verdicts sealed by digest, and the four counts."""
