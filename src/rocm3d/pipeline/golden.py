"""Records the numeric results of a program, to compare them with those of another machine."""

from __future__ import annotations

from pathlib import Path

from rocm3d.model.backend_check import Recording
from rocm3d.pipeline.machine_name import machine_name
from rocm3d.record.golden import RecordingRequest, record


def record_golden(request: RecordingRequest, into: Path) -> Recording:
    return record(request, into, machine_name())
