"""The interpreter of a job reports which GPUs it sees; without a report nothing is verified."""

from __future__ import annotations

import sys

import pytest

from rocm3d.jobs.sight import check, interpreter
from rocm3d.jobs.slots import on_gpus, on_processor
from rocm3d.jobs.specification import read
from rocm3d.model.failure import MachineError
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
def checked(machine, jobs_folder, monkeypatch):
    root = machine()
    slots = on_gpus(read_topology(root).gpus[:2], 2, root, root)

    def look(torch: str | None, command: str = sys.executable) -> list[str]:
        (jobs_folder.root / "lib").mkdir(exist_ok=True)
        if torch is not None:
            (jobs_folder.root / "lib" / "torch.py").write_text(torch)
        monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0")
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        text = (
            f'[run]\nenv = {{ PYTHONPATH = "{jobs_folder.root}/lib" }}\n'
            f'[[job]]\nid = "a"\ncommand = ["{command}", "x.py"]\n'
        )
        return check(slots, read(jobs_folder.write(text)).jobs)

    return look


@pytest.mark.parametrize("devices", ["[]", "['1' * 16, '2' * 16]"])
def test_a_job_that_would_see_none_or_two_gpus_is_refused(checked, devices):
    with pytest.raises(MachineError, match=r"sees \d GPUs with ROCR_VISIBLE_DEVICES=GPU-ab0000000000000\d; a job"):
        checked(TORCH.format(hip="7.0", devices=devices))


def test_a_job_that_would_see_another_gpu_is_refused(checked):
    with pytest.raises(MachineError, match=r"sees another GPU with .*: GPU-1111111111111111"):
        checked(TORCH.format(hip="7.0", devices="['1' * 16]"))


def test_what_cannot_be_asked_is_not_verified(checked, jobs_folder):
    assert "no job starts with a Python" in checked(None, "bash")[0]
    assert all("has no torch" in line for line in checked(None))
    assert all("has no ROCm build of torch" in line for line in checked(TORCH.format(hip=None, devices="[]")))
    assert all("could not list its GPUs" in line for line in checked("raise SystemExit(3)"))


def test_the_one_gpu_is_recognized_by_its_unique_id(checked):
    assert checked(TORCH.format(hip="7.0", devices=MASK)) == [
        "GPU-ab00000000000001: jobs see only this GPU",
        "GPU-ab00000000000002: jobs see only this GPU",
    ]


def test_an_id_that_is_not_told_is_said_so(checked):
    assert all("its unique id is unknown" in line for line in checked(TORCH.format(hip="7.0", devices="['z' * 16]")))


def test_on_the_processor_there_is_nothing_to_see(jobs_folder):
    assert check(on_processor(1), read(jobs_folder.write('[[job]]\nid = "a"\ncommand = ["python3"]\n')).jobs) == []


def test_the_python_of_a_job(jobs_folder):
    def found(command: str) -> str:
        return interpreter(read(jobs_folder.write(f'[[job]]\nid = "a"\ncommand = ["{command}"]\n')).jobs[0])

    assert found(sys.executable) == sys.executable
    assert found("python3").endswith("/python3")
    assert found("./venv/bin/python") == found("sh") == found("python99") == ""
