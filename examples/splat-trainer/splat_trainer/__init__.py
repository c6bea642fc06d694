"""A small trainer for 3D Gaussian splats."""
