from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest

from rocm3d.workspace.interrupts import (
    blocked_interrupts,
    delayed_interrupts,
    exit_on_interrupt,
    exiting,
    ignore_interrupts,
    interruptible,
)


@pytest.fixture(autouse=True)
def _handler():
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before, "a test has left its handler"


def interrupt():
    signal.raise_signal(signal.SIGINT)


def ended(script, *, ignored=False):
    """A process of its own, which has imported the module."""
    start = "import signal\nfrom rocm3d.workspace.interrupts import *\n"
    trap = ["bash", "-c", 'trap "" INT; exec "$@"', "bash"] if ignored else []
    return subprocess.run([*trap, sys.executable, "-c", start + script], capture_output=True, text=True, check=False)


def test_nothing_changes_in_another_thread():
    handlers = []

    def work():
        with interruptible(), exiting(), delayed_interrupts():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]


def test_a_library_call_does_not_ignore_the_signal_afterwards():
    with pytest.raises(KeyboardInterrupt), interruptible():
        interrupt()
    ignore_interrupts()
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def test_a_command_is_interrupted():
    with pytest.raises(KeyboardInterrupt), interruptible():
        interrupt()


def test_a_second_interrupt_does_not_interrupt_the_clean_up():
    steps = []
    with contextlib.suppress(KeyboardInterrupt), interruptible():
        try:
            interrupt()
        finally:
            interrupt()
            steps.append("cleaned up")
        steps.append("not interrupted")
    assert steps == ["cleaned up"]


def test_an_interrupt_that_was_handled_is_over():
    with interruptible():
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                interrupt()


def test_a_change_is_completed_first():
    steps = []
    with contextlib.suppress(KeyboardInterrupt), interruptible(), delayed_interrupts():
        interrupt()
        steps.append("written")
    assert steps == ["written"]


def test_a_blocked_signal_comes_afterwards_and_never_to_a_child():
    with contextlib.suppress(KeyboardInterrupt), interruptible(), blocked_interrupts():
        child = os.fork()
        if child == 0:
            interrupt()
            os._exit(7)
        _, status = os.waitpid(child, 0)
        os.kill(os.getpid(), signal.SIGINT)
    assert os.waitstatus_to_exitcode(status) == 7


def test_outside_of_a_command_the_process_ends_with_one_line():
    finished = ended("with exiting():\n    signal.raise_signal(signal.SIGINT)\nprint('not reached')\n")

    assert (finished.returncode, finished.stdout, finished.stderr) == (130, "", "rocm3d: interrupted\n")


def test_a_third_interrupt_ends_the_process():
    finished = ended(
        "with interruptible():\n"
        "    try:\n        signal.raise_signal(signal.SIGINT)\n"
        "    finally:\n        [signal.raise_signal(signal.SIGINT) for _ in range(2)]; print('not reached')\n"
    )

    assert (finished.returncode, finished.stdout, finished.stderr) == (130, "", "rocm3d: interrupted\n")


def test_after_a_report_further_interrupts_are_ignored():
    finished = ended(
        "with exiting():\n"
        "    try:\n        with interruptible():\n            signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n        ignore_interrupts(); signal.raise_signal(signal.SIGINT)\n"
        "signal.raise_signal(signal.SIGINT)\nprint('reached')\n"
    )

    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "reached\n", "")


def test_an_ignored_signal_stays_ignored():
    finished = ended(
        "with exiting(), interruptible(), delayed_interrupts():\n    signal.raise_signal(signal.SIGINT)\n"
        "print('reached')\n",
        ignored=True,
    )

    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "reached\n", "")


def test_an_interrupt_that_the_interpreter_swallows_is_repeated():
    """In a finaliser an exception is printed, and the program goes on."""
    finished = ended(
        "class Final:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\n"
        "try:\n    with interruptible():\n        Final()\n        while True:\n            pass\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )

    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "interrupted\n", "")


def test_other_exceptions_of_finalisers_are_printed():
    finished = ended(
        "class Final:\n    def __del__(self):\n        raise ValueError('planted')\n"
        "with interruptible():\n    Final()\n"
    )

    assert finished.returncode == 0
    assert "planted" in finished.stderr


def test_the_handler_of_the_start_is_that_of_the_module():
    """__main__ has its own, because nothing is loaded yet."""
    assert exit_on_interrupt.__code__.co_argcount == 2
