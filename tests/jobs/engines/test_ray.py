"""A local Ray runs the same jobs.toml as the other engines, without the mask that Ray refuses."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import kill
from waiting import output_of, wait_until

from rocm3d.jobs.engine import ScheduledAttempt
from rocm3d.jobs.engines.ray import RayEngine, translate_masks
from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.specification import read_jobs
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
    translate_masks(environment, GPUS)
    assert environment == after


class FakeRay:
    """Stand-in for the ray module that records the order of calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def init(self, **_: object) -> None:
        self.calls.append("init")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def remote(self, **_: object):
        return lambda function: SimpleNamespace(remote=lambda command: f"ref of {Path(command[-1]).stem}")

    def cancel(self, ref: str, *, force: bool) -> None:
        self.calls.append(f"cancel {ref}, force={force}")

    def shutdown(self) -> None:
        self.calls.append("shutdown")


def test_what_still_runs_at_the_end_is_cancelled_before_ray_ends(jobs_folder, monkeypatch):
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr("rocm3d.jobs.engines.ray.os.environ", {})
    jobs = read_jobs(jobs_folder.write('[run]\nengine = "ray"\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    folder = run_folder(jobs.path, None)
    with RayEngine(jobs, folder) as engine:
        engine.start([ScheduledAttempt(jobs.jobs[0], 1, engine.slots()[0], folder)])

    assert fake.calls == ["init", "cancel ref of a.1, force=True", "shutdown"]


@pytest.mark.engines
@pytest.mark.xdist_group("ray")
def test_ray_runs_the_same_jobs_and_a_runner_that_is_killed_leaves_no_job_of_it(same_jobs, jobs_folder):
    """One job is endless: when all others have ended, the runner is killed. Ray's own agents end a minute later."""
    pytest.importorskip("ray", reason="not run: Ray is not installed")
    endless = '[ray]\ncpus = 0.1\n[[job]]\nid = "endless"\ncommand = ["sh", "-c", "sleep 3600 & sleep 3600"]\n'
    same_jobs.write("ray", endless)
    runner = jobs_folder.start(env={**os.environ, "ROCR_VISIBLE_DEVICES": "0"})

    def all_but_one_ended() -> bool:
        if runner.poll() is not None:
            pytest.fail(f"the runner ended with {runner.returncode}: {output_of(runner)[1]}")
        states = jobs_folder.states()
        states.pop("endless", None)
        return len(states) == len(same_jobs.expected) and not {"waiting", "running"} & {*states.values()}

    wait_until(all_but_one_ended, "the end of all jobs but one")
    wait_until(lambda: len(jobs_folder.alive()) >= 2, "both processes of the endless job")
    endings, words = same_jobs.endings(jobs_folder.status()), same_jobs.words()
    kill([runner.pid])

    jobs_folder.wait_until_quiet()
    assert endings.pop("endless") == ("running", 1, None)
    assert endings == same_jobs.expected
    assert [(printed[0], printed[1]) for printed in words] == [(f"w{name}", str(jobs_folder.root)) for name in "abc"]
    assert {line[2] for line in words} == {"none"}
