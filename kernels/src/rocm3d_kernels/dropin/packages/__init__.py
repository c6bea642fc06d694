"""One package for each CUDA-only package that is stood in for: its __init__ declares STAND_IN and imports no torch."""
