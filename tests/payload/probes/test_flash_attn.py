from __future__ import annotations

import pytest

INTERFACE = """
import torch
flash_attn_gpu = torch
def flash_attn_func(q, k, v):
    out = torch.nn.functional.scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)))
    return {result}.transpose(1, 2)
"""
START = "from .flash_attn_interface import flash_attn_func\n"


@pytest.mark.parametrize(
    ("result", "wrong"),
    [
        ("(out * 0)", "forward"),
        ("out.detach().requires_grad_()", "not have been used in the graph"),
        ("(2 * out - out.detach())", "gradient"),
    ],
)
def test_a_wrong_result_or_gradient_is_broken(package, run_probe, result, wrong):
    package("flash_attn", library=True, __init__=START, flash_attn_interface=INTERFACE.format(result=result))

    answer = run_probe("flash_attn", "flash_attn")

    assert answer["outcome"] == "broken"
    assert wrong in answer["reason"]


def test_the_backend_it_took_is_named(package, run_probe, checks_by_result):
    package("flash_attn", library=True, __init__=START, flash_attn_interface=INTERFACE.format(result="out"))

    answer = run_probe("flash_attn", "flash_attn")

    assert answer["outcome"] == "accelerated"
    assert answer["facts"]["backend_module"].endswith("torch/__init__.py")
    assert checks_by_result(answer) == ({"forward", "gradient of q", "gradient of k", "gradient of v"}, set())
