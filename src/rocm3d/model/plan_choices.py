"""Choices for a plan. A separate module, because the command line needs them and the plan models load slowly."""

from __future__ import annotations

from typing import Literal

Preference = Literal["stable", "newest", "fewest-builds"]
"""Which stack wins if several support the same number of packages."""

LicenceRule = Literal["report", "refuse"]
"""report: list restrictive terms; refuse: refuse a plan that needs such a component."""

Platform = Literal["linux", "wsl", "windows"]
"""The operating system that the port runs on."""
