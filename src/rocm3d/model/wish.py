"""What a person may wish for, by name. Apart from the plan, whose models take time to load: options name these."""

from __future__ import annotations

from typing import Literal

Preference = Literal["stable", "newest", "fewest-builds"]
"""What decides between stacks that serve equally many packages."""

LicenceRule = Literal["report", "refuse"]
"""report: restrictive terms are listed; refuse: a plan that needs such a component is turned down."""

Platform = Literal["linux", "wsl", "windows"]
"""Where it is going to run."""
