"""Rules over dependency manifests."""
