"""Records the numeric results of a program, to compare them with those of another machine."""

from __future__ import annotations

from pathlib import Path

from rocm3d.model.backend_check import Recording
from rocm3d.record.golden import RecordingRequest, record
from rocm3d.workspace.machine_name import machine_name


def record_golden(request: RecordingRequest, into: Path) -> Recording:
    return record(request, into, machine_name())
