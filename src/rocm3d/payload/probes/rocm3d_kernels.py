"""rocm3d-kernels: what the package itself offers for a check, one operation after the other.

The contract is one function, `rocm3d_kernels.checks(device)`: tuples of a name, a function to run, the reference's
result and the name of a tolerance.
"""

from __future__ import annotations

from typing import Any


def look(bench: Any) -> None:
    """Every operation that it lists, each by its kernel names."""
    package = bench.modules[0]
    if not hasattr(package, "checks"):
        bench.not_run("this version of it offers no checks")
    bench.evidence = "kernels"
    for name, call, wanted, tolerance in package.checks(bench.device):
        bench.agree(name, bench.run(call), wanted, tolerance)
