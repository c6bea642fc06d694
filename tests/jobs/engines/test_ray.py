"""A real Ray on this machine runs the same jobs.toml as the other engines, and never sees the mask that it refuses."""

from __future__ import annotations

import os
import signal

import pytest

from rocm3d.jobs.engines.ray import translate
from rocm3d.workspace.topology import GpuNode, Topology

GPUS = Topology(
    tuple(
        GpuNode(index + 1, "gfx942", 0xAB00 + index, f"0000:{index:02x}:00.0", 0, False, 0, index) for index in range(4)
    )
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"HIP_VISIBLE_DEVICES": "1"}, {"HIP_VISIBLE_DEVICES": "1"}),
        ({"ROCR_VISIBLE_DEVICES": "2,3"}, {"HIP_VISIBLE_DEVICES": "2,3"}),
        ({"ROCR_VISIBLE_DEVICES": "GPU-000000000000ab03"}, {"HIP_VISIBLE_DEVICES": "3"}),
        ({"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "0"}, {"HIP_VISIBLE_DEVICES": "1"}),
    ],
)
def test_the_mask_that_ray_refuses_becomes_the_one_it_takes(before, after):
    environment = dict(before)
    translate(environment, GPUS)
    assert environment == after


def test_ray_runs_the_same_jobs(same_jobs, yard):
    pytest.importorskip("ray", reason="not run: Ray is not installed")
    masked = {**os.environ, "ROCR_VISIBLE_DEVICES": "0"}
    words = same_jobs("ray", masked)

    assert [(found[0], found[1]) for found in words] == [(f"w{name}", str(yard.root)) for name in "abc"]
    assert {found[2] for found in words} == {"none"}


def test_a_runner_that_is_killed_leaves_nothing_of_ray(yard):
    pytest.importorskip("ray", reason="not run: Ray is not installed")
    yard.write('[run]\nengine = "ray"\n[[job]]\nid = "a"\ncommand = ["sh", "-c", "sleep 300 & sleep 300"]\n')
    runner = yard.start()
    yard.waits_for(lambda: len(yard.alive()) >= 2)
    os.kill(runner.pid, signal.SIGKILL)
    runner.communicate(timeout=60)

    assert yard.is_quiet(60)
