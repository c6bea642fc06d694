"""Records which test runs an instrumented line. `faults.py map` copies it into the virtual environments of a copy.

Children of a test inherit its name in their environment, so lines that run only there are recorded too.
"""

from __future__ import annotations

import os
from pathlib import Path

# Names the folder for one file per process. Next to this module, because a child may have another environment.
FOLDER = Path(__file__).with_name("fault_hits_folder.txt")

_noted: set[tuple[int, int, str]] = set()


def hit(number: int) -> None:
    """Record that line `number` runs now."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    # A forked process has its own file.
    note = (os.getpid(), number, test)
    if note not in _noted:
        _noted.add(note)
        with Path(FOLDER.read_text(encoding="utf-8"), str(os.getpid())).open("a", encoding="utf-8") as stream:
            stream.write(f"{number}\t{test}\n")
