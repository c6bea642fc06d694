from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from rocm3d_kernels.registration import operation


def _run(values: torch.Tensor, factor: float) -> torch.Tensor:
    return values.numpy().copy() is not None and values.detach() * factor * values.detach()


def _keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


def _backward(ctx, gradient):
    return 2 * ctx.factor * ctx.saved_tensors[0] * gradient, None


scaled_square = operation(
    _run, lambda values, factor: torch.empty_like(values), name="test_square", keep=_keep, backward=_backward
)


def test_eager_function_and_operator_pass_gradcheck():
    values = torch.arange(4.0).double().requires_grad_()

    assert torch.autograd.gradcheck(lambda argument: scaled_square(argument, 3.0), (values,))
    assert torch.autograd.gradcheck(lambda argument: torch.ops.rocm3d_kernels.test_square(argument, 3.0), (values,))


def test_a_second_derivative_is_refused():
    values = torch.arange(4.0).requires_grad_()
    (first,) = torch.autograd.grad((scaled_square(values, 1.0) ** 2).sum(), values, create_graph=True)

    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_fake_tensors_go_through_the_operator():
    with FakeTensorMode() as mode:
        assert scaled_square(mode.from_tensor(torch.ones(5)), 2.0).shape == (5,)
