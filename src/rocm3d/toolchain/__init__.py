"""Finds and prepares compilers for AMD targets, and reads code objects back."""
