"""A rasterizer that imports, runs and computes nothing."""
