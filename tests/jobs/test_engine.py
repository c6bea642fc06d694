"""Requests of an attempt to the launcher."""

from __future__ import annotations

import pytest

from rocm3d.jobs.engine import ScheduledAttempt
from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.slots import cpu_slots, gpu_slots
from rocm3d.jobs.specification import read_jobs
from rocm3d.workspace.topology import read_topology


@pytest.fixture
def task(jobs_folder):
    def make(text: str = "", slot=None) -> ScheduledAttempt:
        jobs = read_jobs(jobs_folder.write(f'[[job]]\nid = "a"\ncommand = ["python", "x.py"]\n{text}'))
        return ScheduledAttempt(jobs.jobs[0], 2, slot or cpu_slots(1)[0], run_folder(jobs.path, None), "a.2-0f")

    return make


def test_cpu_slot_sets_no_mask(task):
    request = task('env = { A = "1" }\n').request()
    assert request["env"]["A"] == "1"
    assert not [name for name in request["env"] if "VISIBLE" in name]
    assert "unset" not in request
    assert "lock" not in request


def test_gpu_mask_overrides_the_environment_of_the_job(task, machine, tmp_path):
    slot = gpu_slots(read_topology(machine()).gpus[:1], 1, tmp_path, tmp_path)[0]
    request = task('env = { ROCR_VISIBLE_DEVICES = "7", HIP_VISIBLE_DEVICES = "7" }\n', slot).request()
    assert request["env"]["ROCR_VISIBLE_DEVICES"] == "GPU-ab00000000000001"
    assert "HIP_VISIBLE_DEVICES" in request["unset"]
    assert request["lock"] == slot.lock


def test_a_job_learns_its_attempt_id_which_the_status_file_has_too(task):
    request = task('env = { ROCM3D_ATTEMPT_ID = "of-another" }\n').request()
    names = ("ROCM3D_JOB_ID", "ROCM3D_ATTEMPT", "ROCM3D_ATTEMPT_ID")
    assert [request["env"][name] for name in names] == ["a", "2", "a.2-0f"]
    assert request["about"]["id"] == "a.2-0f"


def test_file_names_contain_job_and_attempt(task, jobs_folder):
    request = task().request()
    assert request["key"] == "a.2"
    assert request["status"] == str(jobs_folder.run / "status" / "a.2")
    assert request["log"] == str(jobs_folder.run / "logs" / "a.2.txt")


def test_evidence_puts_the_recorder_before_the_command_and_leaves_it_time_to_write(task):
    request = task('evidence = true\ntimeout = "2m"\n').request()
    assert request["command"][-5:] == ["--limit", "120.000s", "--", "python", "x.py"]
    assert request["seconds"] == 180
    assert task().request()["seconds"] is None


def test_remote_request_lists_the_masks(task):
    assert task().remote_request()["masks"][0] == "ROCR_VISIBLE_DEVICES"
    assert task().remote_request(("HIP_VISIBLE_DEVICES",))["masks"] == ("HIP_VISIBLE_DEVICES",)
