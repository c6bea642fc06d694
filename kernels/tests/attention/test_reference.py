from __future__ import annotations

import pytest

from rocm3d_kernels.attention import attention, reference
from rocm3d_kernels.attention.problem import AttentionProblem
from tests.device import torch

from .sequences import packed, textbook

QUERIES, KEYS = (5, 0, 9, 3, 2), (7, 3, 4, 0, 2)
MASKS_AND_SCORES = [
    {},
    {"right": 0},
    {"left": 2, "right": 1},
    {"right": 0, "top": True},
    {"softcap": 2.0, "right": 0},
    {"slopes": torch.tensor([0.5, 0.1])},
    {"slopes": torch.rand(5, 2, generator=torch.Generator().manual_seed(1)), "left": 3},
]


@pytest.mark.parametrize("kind", MASKS_AND_SCORES, ids=lambda kind: "-".join(kind) or "plain")
@pytest.mark.parametrize("rows", [4, 256])
def test_reference_is_the_textbook_formula_with_its_derivatives(monkeypatch, kind, rows):
    monkeypatch.setattr(reference, "ROWS", rows)
    tensors, spans = packed(QUERIES, KEYS, dtype=torch.float64)
    problem = AttentionProblem(*tensors, 0.25, spans, **kind)
    expected = textbook(*tensors, QUERIES, KEYS, **kind)
    do = torch.randn(expected.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    with torch.no_grad():
        out, lse = reference.forward(problem)
        gradients = reference.backward(problem, out, lse, do)

    torch.testing.assert_close(out, expected)
    for gradient, exact in zip(gradients, torch.autograd.grad(expected, tensors, do), strict=True):
        torch.testing.assert_close(gradient, exact)


def test_rows_without_keys_are_zeros_with_infinite_lse():
    tensors, spans = packed(QUERIES, KEYS, dtype=torch.float64)
    with torch.no_grad():
        out, lse = reference.forward(AttentionProblem(*tensors, 0.25, spans))

    assert not out[14:17].any()
    assert torch.isinf(lse[:, 14:17]).all()
    assert torch.isfinite(lse[:, :14]).all()


def test_gradients_agree_with_finite_differences(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    tensors, spans = packed((3, 2), (2, 4), size=4, dtype=torch.float64)

    assert torch.autograd.gradcheck(
        lambda *inputs: attention(*inputs, spans, causal=True, softcap=3.0), tensors, **tolerance["float64-gradcheck"]
    )
