"""Finding and preparing compilers for AMD targets, and reading code objects back."""
