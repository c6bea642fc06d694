"""The folder for PYTHONPATH whose sitecustomize.py puts the drop-in into child processes."""
