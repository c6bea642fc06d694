"""Fixtures for jobs: a folder with a jobs.toml, its running processes, and a recorded machine with GPUs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from processes import Program, children, command_line, end_family, kill, running_with
from waiting import DEADLINE, output_of, wait_until

from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.specification import read_jobs
from rocm3d.jobs.stage import Campaign

# Limits for processes to end; in tests they only guard against a hang.
LIMITS = (
    "rocm3d.jobs.folder._LAUNCHER_EXIT_SECONDS",
    "rocm3d.jobs.status_files._KILL_SECONDS",
    "rocm3d.workspace.process.HELPER_EXIT_SECONDS",
)
PROGRAM = f"""
import pkgutil
for limit in {LIMITS}:
    module, _, name = limit.rpartition(".")
    setattr(pkgutil.resolve_name(module), name, {DEADLINE})
from rocm3d.cli.main import main
main()
"""
ROCM3D = [sys.executable, "-c", PROGRAM]


@pytest.fixture(autouse=True)
def _long_limits(monkeypatch):
    for limit in LIMITS:
        monkeypatch.setattr(limit, DEADLINE)


@dataclass(frozen=True)
class JobsFolder:
    """A folder with a jobs.toml."""

    root: Path
    started: list[Program] = field(default_factory=list)

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

    def start(self, *more: object, command: str = "run", **options: object) -> Program:
        words = self.program(command, self.root / "jobs.toml", *more)
        process = Program(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.started.append(process)
        return process

    def call(self, command: str, *more: object, **options: object) -> tuple[int, str, str]:
        process = self.start(*more, command=command, **options)
        out, err = output_of(process)
        return process.returncode, out, err

    @property
    def campaign(self) -> Campaign:
        """The object behind the `rocm3d jobs` commands, in this process."""
        path = self.root / "jobs.toml"
        return Campaign(read_jobs(path), run_folder(path, None))

    def status(self) -> dict:
        """The document of `rocm3d jobs status --format json`."""
        return json.loads(self.campaign.status().to_json())

    def log(self, job: str) -> str:
        """Output of the last attempt."""
        return self.campaign.log(job, None).read_text()

    def states(self) -> dict[str, str]:
        return {job["id"]: job["state"] for job in self.status()["jobs"]}

    def alive(self) -> list[int]:
        """Processes that were started for a job of this folder."""
        return running_with(f"ROCM3D_JOB={self.run}/")

    def wait_until_quiet(self) -> None:
        """Wait until no process of the jobs is running."""
        wait_until(lambda: not self.alive(), f"the end of all jobs in {self.run}")

    @staticmethod
    def launchers(pid: int) -> list[int]:
        """Launcher processes of a runner; their children are jobs."""
        return [child for child in children(pid) if "launch_jobs.py" in command_line(child)]


@pytest.fixture
def jobs_folder(tmp_path):
    root = tmp_path / "jobs"
    root.mkdir()
    jobs_folder = JobsFolder(root.resolve())
    yield jobs_folder
    for process in jobs_folder.started:
        end_family(process)
    kill(jobs_folder.alive())


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
        for number, properties in enumerate(nodes):
            node = root / "sys/class/kfd/kfd/topology/nodes" / str(number)
            node.mkdir(parents=True)
            plain = {name: value for name, value in properties.items() if name not in ("vram", "apu")}
            if properties.get("gfx_target_version"):
                plain = {"simd_count": 192, "cpu_cores_count": 0, **plain}
                bus, location = plain.get("domain", 0), plain["location_id"]
                device = root / "sys/bus/pci/devices" / f"{bus:04x}:{location >> 8:02x}:{location >> 3 & 31:02x}.0"
                device.mkdir(parents=True)
                (device / "mem_info_vram_total").write_text(f"{properties['vram']}\n")
                (device / "mem_info_vram_used").write_text(f"{1 << 28}\n")
                (device / "gpu_busy_percent").write_text("0\n")
                if not properties.get("apu"):
                    (device / "mem_busy_percent").write_text("0\n")
            (node / "properties").write_text("".join(f"{name} {value}\n" for name, value in plain.items()))
        return root

    return make
