"""The one folder that goes on PYTHONPATH of a workload: its sitecustomize starts whatever hook_*.py is asked for."""
