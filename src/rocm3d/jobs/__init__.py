"""Independent jobs, one GPU each, on this machine or a cluster."""
