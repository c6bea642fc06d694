"""Parsed source files, preprocessor conditions, and the proof that an edit is invisible to NVIDIA builds."""
