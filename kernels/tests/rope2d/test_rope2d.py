from __future__ import annotations

import pytest
from tests.device import DEVICE, torch
from tests.properties import given, some

import rocm3d_kernels
from rocm3d_kernels.rope2d import launch, reference, rotate, rotate_
from rocm3d_kernels.rope2d.checks import checks

BASE = 100.0


def scene(*shape, far=40, dtype=torch.float32):
    numbers = torch.Generator().manual_seed(5)
    tokens = torch.randn(shape, generator=numbers).to(dtype)
    return tokens, torch.randint(0, far, (*shape[:2], 2), generator=numbers)


def exact(tokens, positions, scale=1.0):
    return reference.rotated(tokens.detach().double(), positions, BASE, scale)


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
def test_other_layouts_are_refused(tokens, positions, text):
    for turn in (rotate, rotate_):
        with pytest.raises(ValueError, match=text):
            turn(torch.zeros(tokens), torch.zeros(positions, dtype=torch.int64))


def test_other_dtypes_and_devices_are_refused():
    tokens, positions = scene(1, 2, 1, 4)
    with pytest.raises(TypeError, match="positions must be int64 or int32"):
        rotate(tokens, positions.float())
    with pytest.raises(TypeError, match="int32 is not supported"):
        rotate(tokens.int(), positions)
    with pytest.raises(ValueError, match="different devices"):
        rotate(tokens, positions.to("meta"))


@pytest.mark.parametrize(
    "strides", [(0, 8, 4, 1), (16, 8, 0, 1), (16, 8, 3, 1), (1, 8, 4, 1)], ids=["batch", "heads", "rows", "all"]
)
def test_tokens_that_lie_over_one_another_are_not_turned_in_place(strides):
    tokens = torch.zeros(64).as_strided((2, 2, 2, 4), strides)

    with pytest.raises(ValueError, match="overlap in memory"):
        rotate_(tokens, torch.zeros(2, 2, 2, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8), (2, 3, 2, 0)], ids=str)
def test_nothing_stays_nothing(shape):
    tokens, positions = scene(*shape)

    assert rotate(tokens, positions).shape == shape
    assert rotate_(tokens, positions) is tokens


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("shape", [(1, 1, 1, 4), (2, 3, 5, 12), (1, 5, 3, 64), (1, 1, 33, 8)], ids=str)
def test_the_kernel_agrees_with_float64(shape, tolerance):
    tokens, positions = scene(*shape)

    torch.testing.assert_close(
        rotate(tokens, positions).double(), exact(tokens, positions), **tolerance["float32-rope"]
    )
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    torch.testing.assert_close(
        rotate_(tokens.clone(), positions.int(), BASE, -0.5).double(), exact(tokens, positions, -0.5),
        **tolerance["float32-rope"],
    )  # fmt: skip


def test_far_positions_are_as_exact_as_near_ones(tolerance):
    tokens, positions = scene(1, 4, 1, 8, far=100_000)

    torch.testing.assert_close(rotate(tokens, positions).double(), exact(tokens, positions), rtol=0, atol=4e-2)
    near, _ = scene(1, 4, 1, 8)
    positions = positions % 3000
    torch.testing.assert_close(rotate(near, positions).double(), exact(near, positions), rtol=0, atol=2e-3)


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
def test_any_layout_is_turned_where_it_lies(layout, tolerance):
    tokens, positions = scene(1, 3, 2, 8)
    laid = layout(tokens.clone())
    wanted, begin = exact(laid, positions), laid.data_ptr()

    assert rotate_(laid, positions).data_ptr() == begin
    torch.testing.assert_close(laid.double(), wanted, **tolerance["float32-rope"])
    # Not bitwise equal: each layout compiles its own kernel, in which a GPU fuses other multiply-adds.
    torch.testing.assert_close(rotate(layout(tokens), positions.flip(1).flip(1)), laid, **tolerance["float32-rope"])


def test_what_lies_between_the_tokens_stays():
    whole = torch.ones(1, 3, 3, 2, 8)
    rotate_(whole[:, :, 1], torch.ones(1, 3, 2, dtype=torch.int64))

    assert (whole[:, :, [0, 2]] == 1).all()
    assert (whole[:, :, 1] != 1).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype, tolerance):
    tokens, positions = scene(1, 2, 2, 16, dtype=dtype)
    found = rotate(tokens, positions)

    assert found.dtype == dtype
    name = f"{str(dtype).removeprefix('torch.')}-operator"
    torch.testing.assert_close(found.double(), exact(tokens, positions), **tolerance[name])


def test_gradients_are_turned_back(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    tokens, positions = scene(2, 3, 2, 8, dtype=torch.float64)
    tokens.requires_grad_()

    assert torch.autograd.gradcheck(lambda one: rotate(one, positions), (tokens,), **tolerance["float64-gradcheck"])
    assert torch.autograd.gradcheck(
        lambda one: rotate_(one * 2, positions), (tokens,), **tolerance["float64-gradcheck"]
    )


def test_the_kernel_takes_gradients_back_in_place(tolerance):
    tokens, positions = scene(1, 3, 2, 8)
    tokens.requires_grad_()
    result = rotate_(tokens * 1, positions)
    (found,) = torch.autograd.grad(result.sum(), tokens)

    torch.testing.assert_close(
        found.double(), exact(torch.ones_like(tokens), positions, -1.0), **tolerance["float32-rope"]
    )


def test_a_leaf_that_learns_is_not_changed_in_place():
    tokens, positions = scene(1, 1, 1, 4)

    with pytest.raises(RuntimeError, match="leaf Variable"):
        rotate_(tokens.requires_grad_(), positions)


@given(some.integers(0, 2**20), some.lists(some.integers(0, 2**12), min_size=4, max_size=4), some.sampled_from((2, 4)))
def test_rows_begin_at_multiples_of_what_is_loaded_at_once(begin, strides, size):
    wide = launch._wide(tuple(strides), begin * size, size)

    assert wide * size <= 16
    assert wide & (wide - 1) == 0
    assert all(one % wide == 0 for one in (begin, *strides[:3]))
    assert wide * size == 16 or any(one % (2 * wide) for one in (begin, *strides[:3]))


@pytest.mark.usefixtures("reference_on_cpu")
def test_torch_compile_sees_one_operator():
    tokens, positions = scene(1, 3, 2, 8)
    compiled = torch.compile(lambda one: rotate_(one * 2, positions), fullgraph=True, backend="aot_eager")

    torch.testing.assert_close(compiled(tokens), rotate(tokens * 2, positions))


@pytest.mark.usefixtures("reference_on_cpu")
def test_the_operators_keep_the_rules_of_torch_library():
    tokens, positions = scene(1, 2, 1, 4)

    torch.library.opcheck(torch.ops.rocm3d_kernels.rope2d_.default, (tokens.clone(), positions, BASE, 1.0))
    torch.library.opcheck(torch.ops.rocm3d_kernels.rope2d.default, (tokens.requires_grad_(), positions, BASE, 1.0))


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_is_offered_to_check_agrees(tolerance):
    offered = list(checks(DEVICE))

    assert len(offered) == 2
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double().cpu(), wanted, **tolerance[name])
