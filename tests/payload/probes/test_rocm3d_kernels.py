from __future__ import annotations

CHECKS = """
import torch
def checks(device):
    given = torch.arange(6.)
    yield "double", lambda: given * {factor}, given.double() * 2, "float32-operator"
"""


def test_a_version_without_checks_is_not_run(package, run_probe):
    package("rocm3d_kernels")

    answer = run_probe("rocm3d_kernels", "rocm3d_kernels")

    assert (answer["outcome"], answer["reason"]) == ("not_run", "this version has no checks")


def test_a_wrong_result_is_broken(package, run_probe):
    package("rocm3d_kernels", __init__=CHECKS.format(factor=3))

    answer = run_probe("rocm3d_kernels", "rocm3d_kernels")

    assert answer["outcome"] == "broken"
    assert answer["reason"].startswith("double is")


def test_what_it_offers_is_run_and_shown_by_kernels(package, run_probe):
    package("rocm3d_kernels", __init__=CHECKS.format(factor=2))

    answer = run_probe("rocm3d_kernels", "rocm3d_kernels")

    assert (answer["outcome"], answer["evidence"]) == ("accelerated", "kernels")
