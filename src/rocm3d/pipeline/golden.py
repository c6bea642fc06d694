"""Numbers of a program, recorded on one machine and compared with those of another."""

from __future__ import annotations

from pathlib import Path

from rocm3d.model.golden import Recording
from rocm3d.pipeline.here import machine
from rocm3d.record.golden import Wanted, record


def record_golden(wanted: Wanted, into: Path) -> Recording:
    """Run a program and keep the numbers it gives."""
    return record(wanted, into, machine())
