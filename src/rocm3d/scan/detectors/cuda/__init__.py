"""Rules over C++ and CUDA sources."""
