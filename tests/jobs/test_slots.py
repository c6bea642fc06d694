"""Slots: interleaved over the GPUs, each with its mask and its lock; a job waits for free VRAM."""

from __future__ import annotations

import pytest

from rocm3d.jobs.slots import cpu_slots, gpu_slots, refuse_oversized_jobs
from rocm3d.jobs.specification import read_jobs
from rocm3d.model.errors import UserError
from rocm3d.workspace.topology import read_topology


@pytest.fixture
def slots(machine, tmp_path):
    root = machine()
    return gpu_slots(read_topology(root).gpus[:2], 2, root, tmp_path)


@pytest.fixture
def job(jobs_folder):
    def make(amount: str):
        return read_jobs(jobs_folder.write(f'[[job]]\nid = "a"\nfree-vram = "{amount}"\ncommand = ["true"]\n')).jobs[0]

    return make


def test_job_that_needs_more_vram_than_any_gpu_is_refused(slots, job):
    with pytest.raises(UserError, match=r"job a needs 32.0 GiB of free VRAM; the largest GPU has 24.0 GiB"):
        refuse_oversized_jobs([job("32 GiB")], slots)


def test_every_gpu_has_a_job_before_one_has_two(slots):
    assert [slot.name for slot in slots] == [
        "GPU-ab00000000000001/1",
        "GPU-ab00000000000002/1",
        "GPU-ab00000000000001/2",
        "GPU-ab00000000000002/2",
    ]


def test_one_mask_is_set_and_all_others_are_unset(slots):
    assert dict(slots[1].env) == {"ROCR_VISIBLE_DEVICES": "GPU-ab00000000000002"}
    assert set(slots[1].unset) == {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}


def test_two_runs_on_one_gpu_share_the_locks(slots, machine, tmp_path):
    assert len({slot.lock for slot in slots}) == 4
    again = gpu_slots([slots[0].gpu], 1, tmp_path / "machine", tmp_path)
    assert again[0].lock == slots[0].lock


def test_a_job_waits_for_free_memory(slots, job, tmp_path):
    used = tmp_path / "machine/sys/bus/pci/devices" / slots[0].gpu.pci / "mem_info_vram_used"
    assert slots[0].can_run(job("20 GiB"))
    used.write_text(f"{5 << 30}\n")
    assert not slots[0].can_run(job("20 GiB"))
    assert slots[0].can_run(job("2 GiB"))
    assert slots[1].can_run(job("20 GiB"))


def test_number_of_cpu_slots():
    assert [slot.name for slot in cpu_slots(2)] == ["cpu-1", "cpu-2"]
    assert cpu_slots(None)
    refuse_oversized_jobs([], cpu_slots(1))
