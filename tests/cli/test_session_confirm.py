"""Questions on a terminal, also while a status line is shown; elsewhere nobody is asked."""

from __future__ import annotations

import os
import sys

import pytest
from processes import Program
from waiting import DEADLINE, wait_for_exit

from rocm3d.cli.session import CliSession

pytestmark = pytest.mark.timeout(DEADLINE)
SESSION = CliSession(quiet=False, verbose=False, log_file=None, offline=False, no_cache=False, knowledge=None)
ASKS = """
from rocm3d.cli.session import CliSession
session = CliSession(quiet=False, verbose=False, log_file=None, offline=False, no_cache=False, knowledge=None)
with session.progress("working") as progress:
    progress("first")
    assert session.has_terminal
    print("answer", session.confirm("Really \\x1b[31m?"), flush=True)
    progress("second")
"""


def test_without_a_terminal_there_is_no_question():
    assert not SESSION.has_terminal


@pytest.mark.parametrize(
    ("answer", "result"), [(b"y\n", b"answer True"), (b"n\n", b"answer False"), (b"\n", b"answer False")]
)
def test_the_answer_of_a_terminal_counts(answer, result):
    controller, terminal = os.openpty()
    output = bytearray()
    with Program([sys.executable, "-c", ASKS], stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        while b"[y/N]" not in output:
            output += os.read(controller, 4096)
        os.write(controller, answer)
        while result not in output:
            output += os.read(controller, 4096)
        assert wait_for_exit(process) == 0
    os.close(controller)
    assert b"\x1b[31m" not in output
