"""What port says about compiling where it cannot, or may not. Real compiles: tests/whole/test_port_compiles.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def compile_verdicts(root: Path) -> list[dict]:
    document = json.loads((root / ".rocm3d" / "verdicts.json").read_text())
    return [item for item in document["verdicts"] if item["probe"] == "compile_extensions"]


@pytest.mark.parametrize("budget", ["soon", "-1", ""])
def test_a_budget_that_is_no_duration_is_refused(rocm3d, example, budget):
    root = example("deform-op")
    ended = rocm3d("port", root, "--gpu", "mi300x", "--budget", budget)

    assert ended.code == 2
    assert f"--budget: {budget!r} is not a duration, for example 600s, 20m or 2h" in ended.err
    assert not (root / "rocm-port").exists()


def test_without_a_toolchain_the_command_and_its_cost_are_named(rocm3d, example):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x")

    (verdict,) = compile_verdicts(root)

    assert verdict["outcome"] == "not_run"
    assert "Run rocm3d toolchain prepare (once; about 80 s, downloads at most " in verdict["reason"]


def test_it_can_be_left_out(rocm3d, example):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", "mi300x", "--no-compile")

    (verdict,) = compile_verdicts(root)

    assert (verdict["outcome"], verdict["reason"]) == (
        "not_run", "left out by --no-compile. Run rocm3d verify . --level compile",
    )  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--no-compile",), ("--compile",)])
def test_a_repository_without_native_code_needs_no_compiler(rocm3d, example, options):
    root = example("pins-only")
    rocm3d("port", root, "--gpu", "mi300x", *options)

    (verdict,) = compile_verdicts(root)

    assert (verdict["outcome"], verdict["reason"]) == ("skipped", "the repository builds no native extension")


@pytest.mark.parametrize(("gpu", "targets"), [("gfx942", ["gfx942", "gfx1100"]), ("gfx1201", ["gfx1201", "gfx942"])])
def test_the_targets_are_of_both_wave_sizes_and_the_toolchain_can_build_them(rocm3d, example, gpu, targets):
    root = example("deform-op")
    rocm3d("port", root, "--gpu", gpu, "--no-compile")

    assert json.loads((root / ".rocm3d" / "verdicts.json").read_text())["targets"] == targets
