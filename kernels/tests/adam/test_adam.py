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
    numbers = torch.Generator().manual_seed(2)
    parameter, gradient, first, second = (torch.randn(shape, generator=numbers).to(dtype) for _ in range(4))
    return [parameter, gradient, first, second.abs(), torch.arange(rows or shape[0]) % 3 != 1]


def stepped(given, **more):
    """Copies of parameter and moments after a step."""
    parameter, gradient, first, second, visible = (one.clone() for one in given)
    adam_step(parameter, gradient, first, second, visible, **{"lr": 0.1, **more})
    return parameter, first, second


@pytest.mark.parametrize(
    ("place", "other", "text"),
    [
        (1, torch.zeros(4, 2), "gradient is torch.float32"),
        (2, torch.zeros(5, 3).double(), "first is torch.float64"),
        (4, torch.ones(4), "15 elements cannot be divided into 4 rows"),
        (4, torch.ones(0), "into 0 rows"),
        (4, torch.ones(5, device="meta"), "different devices"),
    ],
)
def test_wrong_arguments_are_refused_before_a_launch(place, other, text):
    given = state(5, 3)
    given[place] = other

    with pytest.raises(ValueError, match=text):
        adam_step(*given, lr=0.1)


def test_other_dtypes_are_refused():
    with pytest.raises(TypeError, match="float16 is not supported"):
        adam_step(*state(5, 3, dtype=torch.float16), lr=0.1)


@pytest.mark.parametrize("shape", [(1,), (5, 3), (9, 4, 3)])
def test_the_kernel_agrees_with_float64(shape, tolerance):
    given = state(*shape)
    found = stepped(given, eps=1e-3, betas=(0.8, 0.99))
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    with by_reference():
        wanted = stepped([*[one.double() for one in given[:4]], given[4]], eps=1e-3, betas=(0.8, 0.99))
    assert rocm3d_kernels.last_dispatch().implementation == "reference"

    for one, true in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), true, **tolerance["float32-elementwise"])


def test_rows_that_were_not_seen_stay_to_the_bit():
    given = state(6, 2)
    for one, before in zip(stepped(given), (given[0], given[2], given[3]), strict=True):
        assert torch.equal(one[~given[4]], before[~given[4]])
        assert (one[given[4]] != before[given[4]]).all()


def test_numbers_mark_rows_as_well_as_flags():
    given = state(6, 2)
    numbers = [*given[:4], given[4].float()]

    for one, two in zip(stepped(given), stepped(numbers), strict=True):
        assert torch.equal(one, two)


def test_with_corrected_moments_it_is_torchs_own_first_step(tolerance):
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


def test_strides_of_any_kind_are_taken():
    given = state(4, 6)
    turned = [one.T.contiguous().T for one in given[:4]] + given[4:]
    parameter, gradient, first, second, visible = turned
    adam_step(parameter, gradient, first, second, visible, lr=0.1)

    for one, two in zip((parameter, first, second), stepped(given), strict=True):
        assert torch.equal(one, two)


def test_nothing_of_nothing():
    adam_step(*[torch.zeros(0, 3) for _ in range(4)], torch.zeros(0), lr=0.1)


def test_autograd_knows_that_the_parameter_changed():
    parameter, gradient, first, second, visible = state(3, 2)
    parameter.requires_grad_()
    before = (parameter * parameter).sum()
    adam_step(parameter, gradient, first, second, visible, lr=0.1)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        before.backward()


def test_torch_compile_sees_one_operator():
    given = state(4, 3)
    compiled = torch.compile(lambda *all_of: adam_step(*all_of, lr=0.1), fullgraph=True, backend="aot_eager")
    copies = [one.clone() for one in given]
    compiled(*copies)

    for one, two in zip((copies[0], copies[2], copies[3]), stepped(given), strict=True):
        assert torch.equal(one, two)


@pytest.mark.usefixtures("reference_on_cpu")
def test_the_operator_keeps_the_rules_of_torch_library():
    torch.library.opcheck(torch.ops.rocm3d_kernels.adam_step.default, (*state(4, 3), 0.1, 0.9, 0.999, 1e-8))
