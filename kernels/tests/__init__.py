"""Tests of the kernels. A package, so that a `tests` that another distribution installed does not hide it."""
