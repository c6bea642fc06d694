"""The interpreter of a job reports which GPUs it sees; without a report nothing is verified."""

from __future__ import annotations

import sys

import pytest

from rocm3d.jobs.gpus import check_visibility, job_interpreter
from rocm3d.jobs.slots import cpu_slots, gpu_slots
from rocm3d.jobs.specification import read_jobs
from rocm3d.model.errors import MachineError
from rocm3d.workspace.topology import read_topology

# As many devices as the mask names; the unique id as HIP gives it, in digits.
TORCH = """
import os, types
__version__ = "2.9.0"
version = types.SimpleNamespace(hip={hip!r})
assert "HIP_VISIBLE_DEVICES" not in os.environ and "CUDA_VISIBLE_DEVICES" not in os.environ
devices = {devices}
about = lambda index: types.SimpleNamespace(name="card", uuid=devices[index].encode().hex())
cuda = types.SimpleNamespace(device_count=lambda: len(devices), get_device_properties=about)
"""
MASK = "[os.environ['ROCR_VISIBLE_DEVICES'][4:]]"


@pytest.fixture
def check_with_torch(machine, jobs_folder, monkeypatch):
    root = machine()
    slots = gpu_slots(read_topology(root).gpus[:2], 2, root, root)

    def run_check(torch: str | None, command: str = sys.executable) -> list[str]:
        (jobs_folder.root / "lib").mkdir(exist_ok=True)
        if torch is not None:
            (jobs_folder.root / "lib" / "torch.py").write_text(torch)
        monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0")
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        text = (
            f'[run]\nenv = {{ PYTHONPATH = "{jobs_folder.root}/lib" }}\n'
            f'[[job]]\nid = "a"\ncommand = ["{command}", "x.py"]\n'
        )
        return check_visibility(slots, read_jobs(jobs_folder.write(text)).jobs)

    return run_check


@pytest.mark.parametrize("devices", ["[]", "['1' * 16, '2' * 16]"])
def test_a_job_that_would_see_none_or_two_gpus_is_refused(check_with_torch, devices):
    with pytest.raises(MachineError, match=r"sees \d GPUs with ROCR_VISIBLE_DEVICES=GPU-ab0000000000000\d; a job"):
        check_with_torch(TORCH.format(hip="7.0", devices=devices))


def test_a_job_that_would_see_another_gpu_is_refused(check_with_torch):
    with pytest.raises(MachineError, match=r"sees another GPU with .*: GPU-1111111111111111"):
        check_with_torch(TORCH.format(hip="7.0", devices="['1' * 16]"))


def test_without_a_report_nothing_is_verified(check_with_torch, jobs_folder):
    assert "no job starts with a Python" in check_with_torch(None, "bash")[0]
    assert all("has no torch" in line for line in check_with_torch(None))
    assert all("has no ROCm build of torch" in line for line in check_with_torch(TORCH.format(hip=None, devices="[]")))
    assert all("could not list its GPUs" in line for line in check_with_torch("raise SystemExit(3)"))


def test_the_one_gpu_is_recognized_by_its_unique_id(check_with_torch):
    assert check_with_torch(TORCH.format(hip="7.0", devices=MASK)) == [
        "GPU-ab00000000000001: jobs see only this GPU",
        "GPU-ab00000000000002: jobs see only this GPU",
    ]


def test_unknown_unique_id_is_reported(check_with_torch):
    assert all(
        "its unique id is unknown" in line for line in check_with_torch(TORCH.format(hip="7.0", devices="['z' * 16]"))
    )


def test_cpu_slots_are_not_checked(jobs_folder):
    assert (
        check_visibility(cpu_slots(1), read_jobs(jobs_folder.write('[[job]]\nid = "a"\ncommand = ["python3"]\n')).jobs)
        == []
    )


def test_job_interpreter(jobs_folder):
    def interpreter_of(command: str) -> str:
        return job_interpreter(read_jobs(jobs_folder.write(f'[[job]]\nid = "a"\ncommand = ["{command}"]\n')).jobs[0])

    assert interpreter_of(sys.executable) == sys.executable
    assert interpreter_of("python3").endswith("/python3")
    assert interpreter_of("./venv/bin/python") == interpreter_of("sh") == interpreter_of("python99") == ""
