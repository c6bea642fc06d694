from __future__ import annotations

import pytest

from rocm3d_kernels.attention import attention, reference
from rocm3d_kernels.attention.problem import Problem
from tests.device import torch

from .sequences import packed, textbook

QUERIES, KEYS = (5, 0, 9, 3, 2), (7, 3, 4, 0, 2)
KINDS = [
    {},
    {"right": 0},
    {"left": 2, "right": 1},
    {"right": 0, "top": True},
    {"softcap": 2.0, "right": 0},
    {"slopes": torch.tensor([0.5, 0.1])},
    {"slopes": torch.rand(5, 2, generator=torch.Generator().manual_seed(1)), "left": 3},
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind) or "plain")
@pytest.mark.parametrize("rows", [4, 256])
def test_it_is_the_textbook_formula_with_its_derivatives(monkeypatch, kind, rows):
    monkeypatch.setattr(reference, "ROWS", rows)
    tensors, spans = packed(QUERIES, KEYS, dtype=torch.float64)
    problem = Problem(*tensors, 0.25, spans, **kind)
    wanted = textbook(*tensors, QUERIES, KEYS, **kind)
    given = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    with torch.no_grad():
        out, kept = reference.forward(problem)
        gradients = reference.backward(problem, out, kept, given)

    torch.testing.assert_close(out, wanted)
    for found, exact in zip(gradients, torch.autograd.grad(wanted, tensors, given), strict=True):
        torch.testing.assert_close(found, exact)


def test_rows_without_keys_are_zeros_with_an_infinite_logarithm():
    tensors, spans = packed(QUERIES, KEYS, dtype=torch.float64)
    with torch.no_grad():
        out, kept = reference.forward(Problem(*tensors, 0.25, spans))

    assert not out[14:17].any()
    assert torch.isinf(kept[:, 14:17]).all()
    assert torch.isfinite(kept[:, :14]).all()


def test_gradients_are_those_of_differences(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    tensors, spans = packed((3, 2), (2, 4), size=4, dtype=torch.float64)

    assert torch.autograd.gradcheck(
        lambda *given: attention(*given, spans, causal=True, softcap=3.0), tensors, **tolerance["float64-gradcheck"]
    )
