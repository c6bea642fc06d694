"""rocm3d-kernels: the checks that the package itself provides.

Its function `checks(device)` yields tuples of a name, a function to run, the reference result and the name of a
tolerance.
"""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Runs every listed operation."""
    package = session.modules[0]
    if not hasattr(package, "checks"):
        session.not_run("this version has no checks")
    session.evidence = "kernels"
    for name, call, expected, tolerance in package.checks(session.device):
        session.check_close(name, session.run(call), expected, tolerance)
