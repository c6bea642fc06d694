"""Notes which test runs a watched line. `faults.py map` puts it into the virtual environments of a copy.

Children of a test inherit its name in their environment, so lines that run only there are known by it, too.
"""

from __future__ import annotations

import os
from pathlib import Path

# Beside this file, as a child may have an environment of its own: the folder for one file of each process.
FOLDER = Path(__file__).with_name("fault_hits_folder.txt")

_noted: set[tuple[int, int, str]] = set()


def hit(number: int) -> None:
    """Line `number` runs now."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    # After a fork the process is another one, with a file of its own.
    note = (os.getpid(), number, test)
    if note not in _noted:
        _noted.add(note)
        with Path(FOLDER.read_text(encoding="utf-8"), str(os.getpid())).open("a", encoding="utf-8") as stream:
            stream.write(f"{number}\t{test}\n")
