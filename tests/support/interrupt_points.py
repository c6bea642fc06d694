"""Sends SIGINT to a process and its group just before its n-th event of some kinds, from its first statement on.

A sitecustomize.py on PYTHONPATH watches Python's audit events, so that the product needs no hook. Counting starts when
`rocm3d` loads its command line: before that, Python itself answers.
"""

from __future__ import annotations

from pathlib import Path

# Without those of finalisation, in which Python restores the default of the system.
CODE = """
import atexit, os, signal, sys

limits = [int(number) for number in os.environ.get("INTERRUPT_BEFORE", "").split(",") if number]
kinds = set(os.environ["INTERRUPT_EVENTS"].split(","))
count, main, state = [0], os.getpid(), {"counts": False, "ended": False}

def watch(event, arguments):
    if not state["counts"]:
        state["counts"] = event == "import" and arguments[0] == "rocm3d.cli"
        return
    if state["ended"] or event not in kinds or os.getpid() != main:
        return
    count[0] += 1
    if count[0] in limits:
        state["ended"] = count[0] == max(limits)
        os.close(os.open(os.environ["INTERRUPT_SENT"], os.O_CREAT | os.O_WRONLY))
        os.killpg(os.getpgrp(), signal.SIGINT)

def end():
    state["ended"] = True
    path = os.environ.get("INTERRUPT_COUNT")
    if path:
        with open(path, "w") as stream:
            stream.write(str(count[0]))

atexit.register(end)
sys.addaudithook(watch)
"""
EVENTS = (
    "import", "open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link",
    "os.utime", "os.chmod", "os.fork", "shutil.copyfile", "shutil.rmtree", "subprocess.Popen", "sqlite3.connect",
    "tempfile.mkdtemp", "tempfile.mkstemp", "fcntl.flock", "os.kill", "os.killpg", "signal.pthread_kill",
)  # fmt: skip


def interrupting(folder: Path, *, before: tuple[int, ...] = (), count: Path | None = None) -> dict[str, str]:
    """The variables of a process that is interrupted before these events, or that counts them.

    It creates the file `sent` in the folder before it sends a signal.
    """
    (folder / "sitecustomize.py").write_text(CODE)
    variables = {"PYTHONPATH": str(folder), "INTERRUPT_EVENTS": ",".join(EVENTS)}
    return variables | {
        "INTERRUPT_BEFORE": ",".join(map(str, before)),
        "INTERRUPT_COUNT": str(count or ""),
        "INTERRUPT_SENT": str(folder / "sent"),
    }
