"""Scan: Tree -> Inventory and Findings. Parses; never imports, runs or builds what it reads."""
