"""Compiles a repository's native extensions for AMD targets and with nvcc, and reads back the kernels."""
