"""Requests of an attempt to the launcher."""

from __future__ import annotations

import pytest

from rocm3d.jobs.engine import Task
from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.slots import on_gpus, on_processor
from rocm3d.jobs.specification import read
from rocm3d.workspace.topology import read_topology


@pytest.fixture
def task(jobs_folder):
    def make(text: str = "", slot=None) -> Task:
        jobs = read(jobs_folder.write(f'[[job]]\nid = "a"\ncommand = ["python", "x.py"]\n{text}'))
        return Task(jobs.jobs[0], 2, slot or on_processor(1)[0], run_folder(jobs.path, None))

    return make


def test_on_the_processor_no_mask_is_touched(task):
    asked = task('env = { A = "1" }\n').request()
    assert asked["env"] == {"A": "1"}
    assert "unset" not in asked
    assert "lock" not in asked


def test_on_a_gpu_the_mask_wins_over_what_a_job_sets(task, machine, tmp_path):
    slot = on_gpus(read_topology(machine()).gpus[:1], 1, tmp_path, tmp_path)[0]
    asked = task('env = { ROCR_VISIBLE_DEVICES = "7", HIP_VISIBLE_DEVICES = "7" }\n', slot).request()
    assert asked["env"]["ROCR_VISIBLE_DEVICES"] == "GPU-ab00000000000001"
    assert "HIP_VISIBLE_DEVICES" in asked["unset"]
    assert asked["lock"] == slot.lock


def test_files_bear_job_and_attempt(task, jobs_folder):
    asked = task().request()
    assert asked["key"] == "a.2"
    assert asked["status"] == str(jobs_folder.run / "status" / "a.2")
    assert asked["log"] == str(jobs_folder.run / "logs" / "a.2.txt")


def test_evidence_puts_the_recorder_before_the_command_and_leaves_it_time_to_write(task):
    asked = task('evidence = true\ntimeout = "2m"\n').request()
    assert asked["command"][-5:] == ["--limit", "120.000s", "--", "python", "x.py"]
    assert asked["seconds"] == 180
    assert task().request()["seconds"] is None


def test_elsewhere_the_first_mask_that_is_set_stays(task):
    assert task().elsewhere()["masks"][0] == "ROCR_VISIBLE_DEVICES"
    assert task().elsewhere(("HIP_VISIBLE_DEVICES",))["masks"] == ("HIP_VISIBLE_DEVICES",)
