"""Backend checks in the target's environment: does a package import, use the GPU, and compute the right result?"""
