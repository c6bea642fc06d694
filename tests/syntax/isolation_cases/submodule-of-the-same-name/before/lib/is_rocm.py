backend = "cuda"
