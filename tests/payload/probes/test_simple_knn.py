from __future__ import annotations

import pytest

NATIVE = """
import torch
def distCUDA2(points):
    nearest = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist").topk(4, largest=False).values
    return ({result})
"""


def test_without_the_compiled_part_it_is_a_fallback(package, run_probe):
    package("simple_knn")

    answer = run_probe("simple_knn", "simple_knn")

    assert answer["outcome"] == "fallback"
    assert answer["reason"].startswith("simple_knn._C cannot be imported")


@pytest.mark.parametrize("result", ["nearest[:, :3].pow(2).mean(1)", "nearest[:, 1:].mean(1)", "0 * nearest[:, 0]"])
def test_wrong_distances_are_broken(package, run_probe, result):
    package("simple_knn", library=True, _C=NATIVE.format(result=result))

    assert run_probe("simple_knn", "simple_knn")["outcome"] == "broken"


def test_right_distances(package, run_probe):
    package("simple_knn", library=True, _C=NATIVE.format(result="nearest[:, 1:].pow(2).mean(1)"))

    assert run_probe("simple_knn", "simple_knn")["outcome"] == "accelerated"
