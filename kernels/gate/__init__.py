"""The AMD gate: every kernel compiled by Triton's AMD backend, without a GPU, and the code objects read back."""
