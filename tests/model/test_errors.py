"""Errors have an exit code, a message and a hint."""

from __future__ import annotations

import pytest

from rocm3d.model.errors import ExitCode, MachineError, Rocm3dError, UserError


@pytest.mark.parametrize(("kind", "code"), [(UserError, 2), (MachineError, 4)])
def test_error_has_its_exit_code(kind, code):
    failure = kind("what", hint="do this")
    assert isinstance(failure, Rocm3dError)
    assert (failure.exit_code, failure.message, failure.hint, str(failure)) == (code, "what", "do this", "what")
    assert kind("what").hint == ""


def test_exit_codes_are_the_documented_ones():
    assert {code.name: int(code) for code in ExitCode} == {
        "DONE": 0, "FINDINGS": 1, "USAGE": 2, "BUG": 3, "MACHINE": 4, "INTERRUPTED": 130,
    }  # fmt: skip
