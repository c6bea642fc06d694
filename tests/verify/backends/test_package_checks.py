from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rocm3d.verify.backends.environment import Environment
from rocm3d.verify.backends.package_checks import backend_verdict, check_packages
from rocm3d.verify.probe import Probe
from rocm3d.verify.stage import verify

LEVELS = ("import", "backend", "numerics")
# One package that silently falls back, and one that computes nothing.
FAKES = Path(__file__).resolve().parents[2] / "payload" / "fakes"


@pytest.mark.parametrize("level", LEVELS)
def test_without_an_interpreter_a_level_is_not_run(ported, level):
    (verdict,) = verify(ported(), [level]).verdicts

    assert verdict.outcome == "not_run"
    assert "--python" in verdict.reason


def test_packages_without_a_check_share_one_verdict(ported, make_decision, fixed_response):
    decisions = [
        make_decision(name, kind, package=name)
        for name, kind in (("xformers", "drop"), ("deepspeed", "keep"), ("apex", "build"), ("flash-attn", "drop"))
    ]
    case = replace(ported(decisions=decisions), environment=fixed_response(outcome="absent", reason="is not installed"))

    verdicts = check_packages(case, Probe("probe", "backend", lambda case: ()), backend_verdict)

    assert [(item.outcome, item.reason) for item in verdicts] == [
        ("not_run", "torch: is not installed"),
        ("skipped", "dropped by the plan: xformers, flash-attn"),
        ("not_run", "no backend check exists: deepspeed, apex"),
    ]


@pytest.fixture
def fakes(torch_environment, ported, make_decision):
    """A port whose environment has both fakes. Results are compared on the CPU, because tests run without a GPU."""
    python, site = torch_environment
    shutil.copytree(FAKES, site, dirs_exist_ok=True)

    def make(scatter="build", route="upstream-source"):
        decisions = (
            make_decision("torch-scatter", scatter, package="torch-scatter").model_copy(update={"route": route}),
            make_decision("nvdiffrast", "build", package="nvdiffrast"),
        )
        environment = replace(Environment.of(python), device="cpu")
        return replace(ported(decisions=decisions), environment=environment)

    return make


def test_a_silent_fallback_and_a_rasterizer_that_computes_nothing_are_caught_although_they_import(fakes):
    by_level_and_package = {
        (item.level, (item.reason or item.looked_at[0]).partition(":")[0].partition(" ")[0]): item
        for item in verify(fakes(), LEVELS).verdicts
    }

    assert by_level_and_package["import", "torch_scatter"].outcome == "passed"
    assert by_level_and_package["import", "nvdiffrast"].outcome == "passed"
    scatter, raster = by_level_and_package["backend", "torch-scatter"], by_level_and_package["backend", "nvdiffrast"]
    assert (scatter.outcome, scatter.reason) == (
        "failed",
        "torch-scatter: fallback: none of its compiled libraries is loaded",
    )
    assert raster.outcome == "failed"
    assert "broken: covered pixels is 0, not 921" in raster.reason
    assert by_level_and_package["numerics", "torch-scatter"].outcome == "not_run"
    assert by_level_and_package["numerics", "nvdiffrast"].outcome == "failed"
    torch = by_level_and_package["backend", "torch"]
    assert (torch.outcome, torch.reason.endswith("is not a ROCm build")) == ("failed", True)
    assert by_level_and_package["numerics", "torch"].outcome == "passed"


def test_a_planned_fallback_is_skipped(fakes):
    verdicts = verify(fakes("substitute", "torch-shim"), ["backend"]).verdicts

    (scatter,) = [item for item in verdicts if item.reason.startswith("torch-scatter")]
    assert scatter.outcome == "skipped"
    assert scatter.reason.startswith("torch-scatter: planned fallback: the plan uses route torch-shim")


def test_not_run_without_a_gpu(fakes):
    case = fakes()
    without = replace(case, environment=replace(case.environment, device="cuda", cached_checks={}))

    assert {item.outcome for item in verify(without, ["backend", "numerics"]).verdicts} == {"not_run"}
