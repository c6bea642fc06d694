"""The folder for PYTHONPATH whose sitecustomize.py enables the drop-ins in child processes."""
