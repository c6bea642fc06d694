from __future__ import annotations

import pytest
from tests.device import by_reference, torch

import rocm3d_kernels
from rocm3d_kernels.adam import adam_step

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    # The interpreter warns if an unused lane divides by zero.
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]


def state(*shape, dtype=torch.float32, rows=None):
    generator = torch.Generator().manual_seed(2)
    parameter, gradient, first, second = (torch.randn(shape, generator=generator).to(dtype) for _ in range(4))
    return [parameter, gradient, first, second.abs(), torch.arange(rows or shape[0]) % 3 != 1]


def step_on_copies(tensors, **options):
    """Copies of parameter and moments after a step."""
    parameter, gradient, first, second, visible = (one.clone() for one in tensors)
    adam_step(parameter, gradient, first, second, visible, **{"lr": 0.1, **options})
    return parameter, first, second


@pytest.mark.parametrize(
    ("index", "replacement", "text"),
    [
        (1, torch.zeros(4, 2), "gradient is torch.float32"),
        (2, torch.zeros(5, 3).double(), "first is torch.float64"),
        (4, torch.ones(4), "15 elements cannot be divided into 4 rows"),
        (4, torch.ones(0), "into 0 rows"),
        (4, torch.ones(5, device="meta"), "different devices"),
    ],
)
def test_wrong_arguments_are_rejected_before_a_launch(index, replacement, text):
    tensors = state(5, 3)
    tensors[index] = replacement

    with pytest.raises(ValueError, match=text):
        adam_step(*tensors, lr=0.1)


def test_unsupported_dtypes_are_rejected():
    with pytest.raises(TypeError, match="float16 is not supported"):
        adam_step(*state(5, 3, dtype=torch.float16), lr=0.1)


@pytest.mark.parametrize("shape", [(1,), (5, 3), (9, 4, 3)])
def test_kernel_agrees_with_float64(shape, tolerance):
    tensors = state(*shape)
    results = step_on_copies(tensors, eps=1e-3, betas=(0.8, 0.99))
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    with by_reference():
        expected = step_on_copies([*[one.double() for one in tensors[:4]], tensors[4]], eps=1e-3, betas=(0.8, 0.99))
    assert rocm3d_kernels.last_dispatch().implementation == "reference"

    for one, exact in zip(results, expected, strict=True):
        torch.testing.assert_close(one.double(), exact, **tolerance["float32-elementwise"])


def test_rows_that_are_not_visible_do_not_change():
    tensors = state(6, 2)
    for one, before in zip(step_on_copies(tensors), (tensors[0], tensors[2], tensors[3]), strict=True):
        assert torch.equal(one[~tensors[4]], before[~tensors[4]])
        assert (one[tensors[4]] != before[tensors[4]]).all()


def test_visible_may_be_numbers_or_flags():
    tensors = state(6, 2)
    with_numbers = [*tensors[:4], tensors[4].float()]

    for one, two in zip(step_on_copies(tensors), step_on_copies(with_numbers), strict=True):
        assert torch.equal(one, two)


def test_first_step_with_bias_correction_equals_torch(tolerance):
    """With moments of zero, m / (1 - beta1) and sqrt(v / (1 - beta2)) are the gradient and its absolute value."""
    parameter, gradient, *_ = state(5, 3)
    ours, theirs = parameter.clone(), parameter.clone().requires_grad_()
    adam_step(
        ours, gradient, torch.zeros_like(ours), torch.zeros_like(ours), torch.ones(5, dtype=torch.bool),
        lr=0.1 * (1 - 0.999) ** 0.5 / (1 - 0.9), eps=0.0,
    )  # fmt: skip
    theirs.grad = gradient
    torch.optim.Adam([theirs], lr=0.1, eps=0.0).step()

    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_any_strides_are_supported():
    tensors = state(4, 6)
    transposed = [one.T.contiguous().T for one in tensors[:4]] + tensors[4:]
    parameter, gradient, first, second, visible = transposed
    adam_step(parameter, gradient, first, second, visible, lr=0.1)

    for one, two in zip((parameter, first, second), step_on_copies(tensors), strict=True):
        assert torch.equal(one, two)


def test_empty_tensors_are_allowed():
    adam_step(*[torch.zeros(0, 3) for _ in range(4)], torch.zeros(0), lr=0.1)


def test_autograd_notices_the_changed_parameter():
    parameter, gradient, first, second, visible = state(3, 2)
    parameter.requires_grad_()
    before = (parameter * parameter).sum()
    adam_step(parameter, gradient, first, second, visible, lr=0.1)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        before.backward()


def test_torch_compile_captures_one_operator():
    tensors = state(4, 3)
    compiled = torch.compile(lambda *arguments: adam_step(*arguments, lr=0.1), fullgraph=True, backend="aot_eager")
    copies = [one.clone() for one in tensors]
    compiled(*copies)

    for one, two in zip((copies[0], copies[2], copies[3]), step_on_copies(tensors), strict=True):
        assert torch.equal(one, two)


@pytest.mark.usefixtures("reference_on_cpu")
def test_operator_passes_opcheck():
    torch.library.opcheck(torch.ops.rocm3d_kernels.adam_step.default, (*state(4, 3), 0.1, 0.9, 0.999, 1e-8))
