from __future__ import annotations

import pytest

PLAIN = """
import torch
def knn(x, y, k):
    near = torch.cdist(y, x, compute_mode="donot_use_mm_for_euclid_dist").topk(k, largest={largest}).indices
    return torch.stack([torch.arange(len(y)).repeat_interleave(k), near.flatten()])
def fps(src, ratio, random_start):
    taken, far = [{first}], torch.full((len(src),), float("inf"))
    while len(taken) < ratio * len(src):
        far = torch.minimum(far, (src - src[taken[-1]]).pow(2).sum(1))
        taken.append(int(far.argmax()))
    return torch.tensor(taken)
"""


@pytest.mark.parametrize("how", [{"largest": True, "first": 0}, {"largest": False, "first": 7}])
def test_wrong_neighbours_or_samples_are_broken(package, run_probe, how):
    package("torch_cluster", library=True, __init__=PLAIN.format(**how))

    assert run_probe("torch_cluster", "torch_cluster")["outcome"] == "broken"


def test_right_neighbours_and_samples(package, run_probe, checks_by_result):
    package("torch_cluster", library=True, __init__=PLAIN.format(largest=False, first=0))

    answer = run_probe("torch_cluster", "torch_cluster")

    assert checks_by_result(answer) == ({"queries of knn", "knn", "fps"}, set())
    assert answer["outcome"] == "accelerated"
