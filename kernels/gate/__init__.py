"""The AMD gate: compiles every kernel with Triton's AMD backend, without a GPU, and checks the code objects."""
