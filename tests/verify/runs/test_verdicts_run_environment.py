from __future__ import annotations

import pytest

from rocm3d.model.target import Gpu
from rocm3d.verify.runs.verdicts import describe_environment, environment_mismatch

GPU = Gpu(gfx="gfx942", product="mi300x", title="MI300X", wave_size=64, vram_gb=192)


@pytest.mark.parametrize(
    ("held", "outcome", "why"),
    [
        ({"torch": ""}, "not_run", "did not import torch"),
        ({"rocm": "", "cuda": "13.0", "gpu": "NVIDIA H200", "gfx": ""}, "not_run", "the plan is for gfx942"),
        ({"gpu": "", "gfx": ""}, "failed", "ran on the CPU"),
        ({"rocm": "", "gpu": "", "gfx": ""}, "failed", "ran on the CPU"),
        ({"rocm": "", "cuda": "13.0", "gpu": "", "gfx": ""}, "failed", "ran on the CPU"),
        ({"gfx": "gfx1100"}, "not_run", "ran on gfx1100; the plan is for gfx942"),
        ({"gfx": ""}, "not_run", "unknown target"),
    ],
)
def test_a_run_in_another_environment_is_not_run_or_fails(make_run, held, outcome, why):
    mismatch = environment_mismatch(make_run(held), GPU)

    assert mismatch is not None
    assert mismatch[0] == outcome
    assert why in mismatch[1]


def test_the_planned_gpu_is_no_mismatch(make_run):
    assert environment_mismatch(make_run(), GPU) is None


def test_the_environment_is_described_with_the_commit(make_run):
    assert (
        describe_environment(make_run())
        == "AMD Instinct MI300X (gfx942), HIP 7.2.1, torch 2.9.1+rocm7.2, commit 0123456789ab"
    )
    assert "commit unknown" in describe_environment(make_run({"commit": ""}))
