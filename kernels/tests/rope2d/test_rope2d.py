from __future__ import annotations

import pytest
from tests.device import DEVICE, torch
from tests.properties import given, some

import rocm3d_kernels
from rocm3d_kernels.rope2d import launch, reference, rotate, rotate_
from rocm3d_kernels.rope2d.checks import checks

BASE = 100.0


def tokens_and_positions(*shape, max_position=40, dtype=torch.float32):
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randn(shape, generator=generator).to(dtype)
    return tokens, torch.randint(0, max_position, (*shape[:2], 2), generator=generator)


def exact(tokens, positions, scale=1.0):
    return reference.rotate(tokens.detach().double(), positions, BASE, scale)


@pytest.mark.parametrize(
    ("tokens", "positions", "text"),
    [
        ((2, 5, 8), (2, 5, 2), r"tokens must be \[B, N, H, D\]"),
        ((2, 5, 3, 6), (2, 5, 2), "D a multiple of 4"),
        ((2, 3, 5, 8), (2, 5, 2), r"transpose tokens \[B, H, N, D\] first"),
        ((2, 5, 3, 8), (2, 5), r"positions for tokens .* must be \(2, 5, 2\)"),
        ((1, 1, 1, 2**17), (1, 1, 2), "too large"),
    ],
)
def test_wrong_layouts_are_rejected(tokens, positions, text):
    for function in (rotate, rotate_):
        with pytest.raises(ValueError, match=text):
            function(torch.zeros(tokens), torch.zeros(positions, dtype=torch.int64))


def test_unsupported_dtypes_and_devices_are_rejected():
    tokens, positions = tokens_and_positions(1, 2, 1, 4)
    with pytest.raises(TypeError, match="positions must be int64 or int32"):
        rotate(tokens, positions.float())
    with pytest.raises(TypeError, match="int32 is not supported"):
        rotate(tokens.int(), positions)
    with pytest.raises(ValueError, match="different devices"):
        rotate(tokens, positions.to("meta"))


@pytest.mark.parametrize(
    "strides", [(0, 8, 4, 1), (16, 8, 0, 1), (16, 8, 3, 1), (1, 8, 4, 1)], ids=["batch", "heads", "rows", "all"]
)
def test_overlapping_tokens_are_rejected_in_place(strides):
    tokens = torch.zeros(64).as_strided((2, 2, 2, 4), strides)

    with pytest.raises(ValueError, match="overlap in memory"):
        rotate_(tokens, torch.zeros(2, 2, 2, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8), (2, 3, 2, 0)], ids=str)
def test_empty_tensors_are_allowed(shape):
    tokens, positions = tokens_and_positions(*shape)

    assert rotate(tokens, positions).shape == shape
    assert rotate_(tokens, positions) is tokens


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("shape", [(1, 1, 1, 4), (2, 3, 5, 12), (1, 5, 3, 64), (1, 1, 33, 8)], ids=str)
def test_kernel_agrees_with_float64(shape, tolerance):
    tokens, positions = tokens_and_positions(*shape)

    torch.testing.assert_close(
        rotate(tokens, positions).double(), exact(tokens, positions), **tolerance["float32-rope"]
    )
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    torch.testing.assert_close(
        rotate_(tokens.clone(), positions.int(), BASE, -0.5).double(), exact(tokens, positions, -0.5),
        **tolerance["float32-rope"],
    )  # fmt: skip


def test_large_positions_are_exact(tolerance):
    tokens, positions = tokens_and_positions(1, 4, 1, 8, max_position=100_000)

    torch.testing.assert_close(rotate(tokens, positions).double(), exact(tokens, positions), rtol=0, atol=4e-2)
    other_tokens, _ = tokens_and_positions(1, 4, 1, 8)
    positions = positions % 3000
    torch.testing.assert_close(
        rotate(other_tokens, positions).double(), exact(other_tokens, positions), rtol=0, atol=2e-3
    )


@pytest.mark.parametrize(
    "layout",
    [
        lambda tokens: torch.stack((tokens, tokens, tokens), dim=2)[:, :, 1],
        lambda tokens: tokens.transpose(1, 2).contiguous().transpose(1, 2),
        lambda tokens: tokens.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
        lambda tokens: torch.cat((tokens[..., :1], tokens), dim=3)[..., 1:],
        lambda tokens: tokens.expand(2, -1, -1, -1)[:1],
    ],
    ids=["projection", "heads first", "numbers apart", "odd begin", "one of several"],
)
def test_any_layout_is_rotated_in_place(layout, tolerance):
    tokens, positions = tokens_and_positions(1, 3, 2, 8)
    view = layout(tokens.clone())
    expected, address = exact(view, positions), view.data_ptr()

    assert rotate_(view, positions).data_ptr() == address
    torch.testing.assert_close(view.double(), expected, **tolerance["float32-rope"])
    # Not bitwise equal: each layout compiles its own kernel, in which a GPU fuses other multiply-adds.
    torch.testing.assert_close(rotate(layout(tokens), positions.flip(1).flip(1)), view, **tolerance["float32-rope"])


def test_memory_between_the_tokens_does_not_change():
    whole = torch.ones(1, 3, 3, 2, 8)
    rotate_(whole[:, :, 1], torch.ones(1, 3, 2, dtype=torch.int64))

    assert (whole[:, :, [0, 2]] == 1).all()
    assert (whole[:, :, 1] != 1).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype, tolerance):
    tokens, positions = tokens_and_positions(1, 2, 2, 16, dtype=dtype)
    result = rotate(tokens, positions)

    assert result.dtype == dtype
    name = f"{str(dtype).removeprefix('torch.')}-operator"
    torch.testing.assert_close(result.double(), exact(tokens, positions), **tolerance[name])


def test_gradients_agree_with_finite_differences(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    tokens, positions = tokens_and_positions(2, 3, 2, 8, dtype=torch.float64)
    tokens.requires_grad_()

    assert torch.autograd.gradcheck(lambda one: rotate(one, positions), (tokens,), **tolerance["float64-gradcheck"])
    assert torch.autograd.gradcheck(
        lambda one: rotate_(one * 2, positions), (tokens,), **tolerance["float64-gradcheck"]
    )


def test_in_place_kernel_is_differentiable(tolerance):
    tokens, positions = tokens_and_positions(1, 3, 2, 8)
    tokens.requires_grad_()
    result = rotate_(tokens * 1, positions)
    (gradient,) = torch.autograd.grad(result.sum(), tokens)

    torch.testing.assert_close(
        gradient.double(), exact(torch.ones_like(tokens), positions, -1.0), **tolerance["float32-rope"]
    )


def test_leaf_that_requires_grad_is_rejected_in_place():
    tokens, positions = tokens_and_positions(1, 1, 1, 4)

    with pytest.raises(RuntimeError, match="leaf Variable"):
        rotate_(tokens.requires_grad_(), positions)


@given(some.integers(0, 2**20), some.lists(some.integers(0, 2**12), min_size=4, max_size=4), some.sampled_from((2, 4)))
def test_alignment_divides_the_start_of_every_row(begin, strides, size):
    alignment = launch._common_alignment(tuple(strides), begin * size, size)

    assert alignment * size <= 16
    assert alignment & (alignment - 1) == 0
    assert all(one % alignment == 0 for one in (begin, *strides[:3]))
    assert alignment * size == 16 or any(one % (2 * alignment) for one in (begin, *strides[:3]))


@pytest.mark.usefixtures("reference_on_cpu")
def test_torch_compile_captures_one_operator():
    tokens, positions = tokens_and_positions(1, 3, 2, 8)
    compiled = torch.compile(lambda one: rotate_(one * 2, positions), fullgraph=True, backend="aot_eager")

    torch.testing.assert_close(compiled(tokens), rotate(tokens * 2, positions))


@pytest.mark.usefixtures("reference_on_cpu")
def test_operators_pass_opcheck():
    tokens, positions = tokens_and_positions(1, 2, 1, 4)

    torch.library.opcheck(torch.ops.rocm3d_kernels.rope2d_.default, (tokens.clone(), positions, BASE, 1.0))
    torch.library.opcheck(torch.ops.rocm3d_kernels.rope2d.default, (tokens.requires_grad_(), positions, BASE, 1.0))


@pytest.mark.usefixtures("reference_on_cpu")
def test_checks_agree_with_the_reference(tolerance):
    cases = list(checks(DEVICE))

    assert len(cases) == 2
    for _, call, expected, name in cases:
        torch.testing.assert_close(call().double().cpu(), expected, **tolerance[name])
