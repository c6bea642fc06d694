"""Folder for the PYTHONPATH of a workload; its sitecustomize starts the enabled hook_*.py files."""
