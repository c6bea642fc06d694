from __future__ import annotations

import pytest
import torch

from rocm3d_kernels import tuning
from rocm3d_kernels.gate_kernel import GateKernel


def test_an_unknown_kernel_is_an_error():
    with pytest.raises(KeyError):
        tuning.for_target("ssim", "no_kernel", "gfx942")


def test_a_gpu_that_nobody_measured_gets_the_default():
    default = tuning.table("knn")["default"]["search_kernel"]

    assert tuning.for_target("knn", "search_kernel", "gfx9999") == {**tuning.COMMON_OPTIONS, **default}


def test_a_target_changes_what_it_names():
    parameters = tuning.for_target("knn", "search_kernel", "interpreter")

    assert parameters["BOX"] == tuning.table("knn")["interpreter"]["search_kernel"]["BOX"]
    assert parameters["num_warps"] == 1


def test_the_caller_may_change_what_it_got():
    tuning.tuned("ssim", "ssim_forward_kernel", torch.device("cpu"))["BLOCK"] = 0

    assert tuning.tuned("ssim", "ssim_forward_kernel", torch.device("cpu"))["BLOCK"] > 0


def test_gate_kernel_splits_constants_and_options():
    def knn_kernel():
        """Only its name is used."""

    knn_kernel.__name__ = "search_kernel"
    constants, options = GateKernel("knn", knn_kernel, {}, {"MORE": 1}).compile_arguments("gfx942")

    assert options["num_warps"] == 1
    assert {"BOX", "GROUP", "MORE"} <= set(constants)
    assert "num_warps" not in constants


def test_cached_values_are_recomputed_after_an_override():
    calls, overrides = [], []

    @tuning.cached_until_override
    def make(number):
        calls.append(number)
        return tuning.for_target("ssim", "ssim_forward_kernel", "interpreter")["BLOCK"]

    tuning.on_override(lambda: overrides.append(True))
    first = [make(1), make(1)]
    tuning.override_parameters("ssim", {"ssim_forward_kernel": {"BLOCK": 7}})
    second = make(1)
    tuning.override_parameters("ssim", {})

    assert (calls, first, second) == ([1, 1], [32, 32], 7)
    assert overrides == [True, True]
    assert make(1) == 32
