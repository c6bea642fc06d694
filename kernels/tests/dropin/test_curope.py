from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.dropin.packages.curope import native

# A rewrite of the Python of CroCo that calls the extension.
CROCO = """
import sys
import rocm3d_kernels.dropin.auto
import torch
torch.set_num_threads(1)
import curope

class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tokens, positions):
        ctx.save_for_backward(positions)
        curope.rope_2d(tokens, positions, 100.0, 1.0)
        ctx.mark_dirty(tokens)
        return tokens

    @staticmethod
    def backward(ctx, slope):
        curope.rope_2d(slope, ctx.saved_tensors[0], 100.0, -1.0)
        return slope, None

tokens = torch.randn(1, 5, 2, 8, requires_grad=True)
positions = torch.randint(0, 9, (1, 5, 2))
turned = Turn.apply((tokens * 1).transpose(1, 2).contiguous().transpose(1, 2), positions)
(turned * turned.detach()).sum().backward()
same = torch.allclose(tokens.grad, tokens.detach(), atol=1e-5)
print(same, curope.__rocm3d__["stands_in_for"], file=sys.stderr)
curope.rope_3d
"""


def test_inverse_restores_the_tokens_and_other_names_are_missing(python):
    output = python(CROCO, ROCM3D_DROPIN="force,curope", fails=True)

    assert "curope.rope_3d is not covered" in output.splitlines()[-1]
    assert "True curope" in output


def test_overlapping_gradient_is_rejected():
    gradient = torch.ones(()).expand(1, 2, 2, 8)

    with pytest.raises(ValueError, match="overlap in memory"):
        native.rope_2d(gradient, torch.zeros(1, 2, 2, dtype=torch.int64), 100.0, -1.0)


def test_leaf_is_rotated_in_place_like_the_extension():
    tokens = torch.ones(1, 1, 1, 4, requires_grad=True)
    native.rope_2d(tokens, torch.ones(1, 1, 2, dtype=torch.int64), 100.0, 1.0)

    assert (tokens != 1).all()
