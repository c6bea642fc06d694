"""The plan stage: inventory, findings and GPU to a plan. Pure: reads no file, starts no process."""
