"""What tests of jobs share: a jobs.toml in a folder of its own, and whether anything of it still runs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROCM3D = [sys.executable, "-c", "from rocm3d.cli.main import main; main()"]


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


@dataclass(frozen=True)
class Yard:
    """A folder with a jobs.toml."""

    root: Path
    started: list[subprocess.Popen] = field(default_factory=list)

    @property
    def run(self) -> Path:
        return self.root / ".rocm3d" / "jobs" / "jobs"

    def write(self, text: str) -> Path:
        path = self.root / "jobs.toml"
        path.write_text(text)
        return path

    @staticmethod
    def program(command: str, *more: object) -> list[str]:
        return [*ROCM3D, "jobs", command, *map(str, more)]

    def start(self, *more: object, command: str = "run", **options: object) -> subprocess.Popen:
        words = self.program(command, self.root / "jobs.toml", *more)
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.started.append(process)
        return process

    def call(self, command: str, *more: object, **options: object) -> tuple[int, str, str]:
        with self.start(*more, command=command, **options) as process:
            out, err = process.communicate(timeout=100)
        return process.returncode, out, err

    def status(self) -> dict:
        return json.loads(self.call("status", "--format", "json", "--quiet")[1])

    def states(self) -> dict[str, str]:
        return {job["id"]: job["state"] for job in self.status()["jobs"]}

    def alive(self) -> list[int]:
        """Processes that were started for a job of this folder, by their environment."""
        mark, found = f"ROCM3D_JOB={self.run}/".encode(), []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
        return found

    def is_quiet(self, seconds: float = 15) -> bool:
        """Whether nothing of the jobs lives any more, or soon will not."""
        return until(lambda: not self.alive(), seconds)

    def waits_for(self, condition: Callable[[], object]) -> None:
        """Until it holds."""
        assert until(condition), "it did not come about"

    @staticmethod
    def children(pid: int) -> list[int]:
        """Of the launcher these are jobs, of the runner the launcher."""
        return children(pid)


def until(condition: Callable[[], object], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


@pytest.fixture
def yard(tmp_path):
    root = tmp_path / "yard"
    root.mkdir()
    yard = Yard(root.resolve())
    yield yard
    for process in yard.started:
        if process.poll() is None:
            process.kill()
            process.communicate()


# Two cards with unique ids, one without, and the GPU of the processor, as the kernel lists them (kfd_topology.c).
MACHINE = (
    {"cpu_cores_count": 16, "simd_count": 0, "gfx_target_version": 0},
    {"gfx_target_version": 110000, "unique_id": 0xAB00000000000001, "location_id": 0x0300, "vram": 24 << 30},
    {"gfx_target_version": 110000, "unique_id": 0xAB00000000000002, "location_id": 0x2D00, "vram": 24 << 30},
    {"gfx_target_version": 100306, "unique_id": 0, "location_id": 0x1000, "vram": 1 << 29, "apu": True},
    {"gfx_target_version": 90006, "unique_id": 0, "location_id": 0x8300, "domain": 1, "vram": 16 << 30},
)


@pytest.fixture
def machine(tmp_path):
    """The root of a machine with these nodes."""

    def make(nodes=MACHINE) -> Path:
        root = tmp_path / "machine"
        for number, said in enumerate(nodes):
            node = root / "sys/class/kfd/kfd/topology/nodes" / str(number)
            node.mkdir(parents=True)
            plain = {name: value for name, value in said.items() if name not in ("vram", "apu")}
            if said.get("gfx_target_version"):
                plain = {"simd_count": 192, "cpu_cores_count": 0, **plain}
                bus, location = plain.get("domain", 0), plain["location_id"]
                device = root / "sys/bus/pci/devices" / f"{bus:04x}:{location >> 8:02x}:{location >> 3 & 31:02x}.0"
                device.mkdir(parents=True)
                (device / "mem_info_vram_total").write_text(f"{said['vram']}\n")
                (device / "mem_info_vram_used").write_text(f"{1 << 28}\n")
                (device / "gpu_busy_percent").write_text("0\n")
                if not said.get("apu"):
                    (device / "mem_busy_percent").write_text("0\n")
            (node / "properties").write_text("".join(f"{name} {value}\n" for name, value in plain.items()))
        return root

    return make
