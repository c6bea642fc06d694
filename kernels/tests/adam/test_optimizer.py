from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.adam.optimizer import VisibleAdam

pytestmark = pytest.mark.usefixtures("reference_on_cpu")


def test_two_tensors_in_a_group_are_rejected():
    optimizer = VisibleAdam([torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)], lr=0.1)

    with pytest.raises(ValueError, match="must hold one tensor, not 2"):
        optimizer.step_visible(torch.ones(2))


def test_groups_have_their_own_rates_and_skip_missing_gradients():
    moved, still, other = (torch.ones(3, 2, requires_grad=True) for _ in range(3))
    optimizer = VisibleAdam([{"params": [moved], "lr": 0.1}, {"params": [still]}, {"params": [other], "lr": 0.2}], lr=0)
    for one in (moved, other):
        one.grad = torch.ones_like(one)
    optimizer.step_visible(torch.tensor([True, False, True]))

    assert moved[1].tolist() == still[0].tolist() == [1, 1]
    torch.testing.assert_close(2 * (1 - moved[0]), 1 - other[0])
    assert set(optimizer.state[moved]) == {"step", "exp_avg", "exp_avg_sq"}
    assert optimizer.state[still] == {}


def test_steps_reduce_the_loss():
    value = torch.tensor([[3.0], [-2.0]], requires_grad=True)
    optimizer = VisibleAdam([value], lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        value.square().sum().backward()
        optimizer.step_visible(torch.tensor([1, 0]))

    assert value[0].abs() < 1.5
    assert value[1].item() == -2
