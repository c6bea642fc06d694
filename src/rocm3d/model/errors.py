"""Exit codes, and the errors that a user can act on.

    Rocm3dError
    +-- UserError       wrong usage or bad input              exit 2
    |   +-- RefusedError  a policy of the user forbids it     exit 1
    +-- MachineError    this machine cannot run the request   exit 4

Any other exception is a bug in rocm3d (exit 3). Only cli/application.py catches these.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the program. Stable; documented in docs/reference/cli.md."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    BUG = 3
    MACHINE = 4
    INTERRUPTED = 130


class Rocm3dError(Exception):
    """An expected error: a message of one line and, if there is one, the next action as hint."""

    exit_code: ExitCode

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(Rocm3dError):
    """Wrong usage or bad input."""

    exit_code = ExitCode.USAGE


class RefusedError(UserError):
    """A policy that the user or the repository set forbids the request."""

    exit_code = ExitCode.FINDINGS


class MachineError(Rocm3dError):
    """The request is valid, but this machine cannot run it."""

    exit_code = ExitCode.MACHINE
