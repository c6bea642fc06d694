from __future__ import annotations

import pytest
import torch

from rocm3d_kernels import tuning
from rocm3d_kernels.declared import Declared


def test_a_kernel_that_the_table_lacks_is_an_error():
    with pytest.raises(KeyError):
        tuning.for_target("ssim", "no_kernel", "gfx942")


def test_a_gpu_that_nobody_measured_gets_the_default():
    default = tuning.table("knn")["default"]["search_kernel"]

    assert tuning.for_target("knn", "search_kernel", "gfx9999") == {**tuning.ALWAYS, **default}


def test_a_target_changes_what_it_names():
    told = tuning.for_target("knn", "search_kernel", "interpreter")

    assert told["BOX"] == tuning.table("knn")["interpreter"]["search_kernel"]["BOX"]
    assert told["num_warps"] == 1


def test_the_caller_may_change_what_it_got():
    tuning.tuned("ssim", "ssim_forward_kernel", torch.device("cpu"))["BLOCK"] = 0

    assert tuning.tuned("ssim", "ssim_forward_kernel", torch.device("cpu"))["BLOCK"] > 0


def test_a_declared_kernel_knows_how_it_is_launched():
    def knn_kernel():
        """Only its name is used."""

    knn_kernel.__name__ = "search_kernel"
    constants, options = Declared("knn", knn_kernel, {}, {"MORE": 1}).launch("gfx942")

    assert options["num_warps"] == 1
    assert {"BOX", "GROUP", "MORE"} <= set(constants)
    assert "num_warps" not in constants


def test_what_was_made_of_parameters_is_made_anew_of_others():
    made, told = [], []

    @tuning.kept
    def make(number):
        made.append(number)
        return tuning.for_target("ssim", "ssim_forward_kernel", "interpreter")["BLOCK"]

    tuning.forget_with(lambda: told.append(True))
    first = [make(1), make(1)]
    tuning.insist("ssim", {"ssim_forward_kernel": {"BLOCK": 7}})
    second = make(1)
    tuning.insist("ssim", {})

    assert (made, first, second) == ([1, 1], [32, 32], 7)
    assert told == [True, True]
    assert make(1) == 32
