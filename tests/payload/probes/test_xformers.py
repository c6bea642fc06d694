from __future__ import annotations

import pytest

INFO = """
def get_features_status():
    return {"memory_efficient_attention.ckF": "available", "memory_efficient_attention.cutlassF": "unavailable"}
"""
OPS = """
import torch
def memory_efficient_attention(q, k, v):
    out = torch.nn.functional.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)))
    return (out{spoil}).transpose(1, 2)
"""


@pytest.mark.parametrize("spoil", [" * 0", " * 1.01", ".roll(1, 2)"])
def test_wrong_attention_is_broken(package, run_probe, spoil):
    package("xformers", library=True, info=INFO, ops=OPS.format(spoil=spoil))

    assert run_probe("xformers", "xformers")["outcome"] == "broken"


def test_plain_torch_behind_the_name_is_a_fallback(package, run_probe):
    package("xformers", info=INFO, ops=OPS.format(spoil=""))

    answer = run_probe("xformers", "xformers")

    assert (answer["outcome"], answer["reason"]) == ("fallback", "none of its compiled libraries is loaded")


def test_attention_that_agrees_names_its_operators(package, run_probe):
    package("xformers", library=True, info=INFO, ops=OPS.format(spoil=""))

    answer = run_probe("xformers", "xformers")

    assert answer["outcome"] == "accelerated"
    assert answer["facts"]["operators"] == ["memory_efficient_attention.ckF"]
