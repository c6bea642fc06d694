"""How rocm3d ends: exit codes, and the failures that a user can do something about.

    Failure
    +-- UserError       wrong usage or bad input         exit 2
    +-- MachineLacks    this machine lacks what was asked exit 4

Anything else that escapes is a bug of ours (exit 3). Only cli/application.py catches.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the shell sees; stable, documented in docs/reference/cli.md."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    BUG = 3
    MACHINE = 4
    INTERRUPTED = 130


class Failure(Exception):  # noqa: N818  (the tree above reads as the domain does)
    """An expected end: one clear line and, where there is one, the next action."""

    exit_code: Exit

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(Failure):
    """Wrong usage or bad input."""

    exit_code = Exit.USAGE


class MachineLacks(Failure):
    """The request was right; this machine cannot do it."""

    exit_code = Exit.MACHINE
