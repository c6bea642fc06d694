from __future__ import annotations

import pytest
from tests.device import DEVICE, torch

import rocm3d_kernels
from rocm3d_kernels import tuning
from rocm3d_kernels.deformable import deformable_attention, gradients, reference
from rocm3d_kernels.deformable.checks import checks

LEVELS = ((5, 4), (3, 2), (1, 1))


def scene(batch=1, heads=2, channels=8, queries=3, points=2, levels=LEVELS, dtype=torch.float32):
    numbers = torch.Generator().manual_seed(3)
    shapes = torch.tensor(levels, dtype=torch.int64).reshape(-1, 2)
    starts = torch.cat((shapes.new_zeros(1), shapes.prod(1).cumsum(0)))[: len(levels)]
    value = torch.randn(batch, int(shapes.prod(1).sum()), heads, channels, generator=numbers)
    locations = torch.rand(batch, queries, heads, len(levels), points, 2, generator=numbers) * 1.6 - 0.3
    weights = torch.rand(batch, queries, heads, len(levels), points, generator=numbers)
    return value.to(dtype), shapes, starts, locations.to(dtype), weights.to(dtype)


def exact(given):
    return tuple(one.double() if one.is_floating_point() else one for one in given)


def by_grid_sample(value, shapes, starts, locations, weights):
    batch, _, heads, channels = value.shape
    total = 0
    for level, (height, width) in enumerate(shapes.tolist()):
        plane = value[:, starts[level] :][:, : height * width].permute(0, 2, 3, 1)
        grid = (2 * locations[:, :, :, level] - 1).transpose(1, 2).flatten(0, 1)
        plane = plane.reshape(batch * heads, channels, height, width)
        found = torch.nn.functional.grid_sample(plane, grid, align_corners=False)
        total = total + (found * weights[:, :, :, level].transpose(1, 2).flatten(0, 1)[:, None]).sum(-1)
    return total.view(batch, heads * channels, -1).transpose(1, 2)


def slope_of(given):
    size = (given[0].shape[0], given[3].shape[1], given[0].shape[2] * given[0].shape[3])
    return torch.randn(size, generator=torch.Generator().manual_seed(4)).to(given[0].dtype)


@pytest.mark.parametrize(
    ("place", "change", "text"),
    [
        (0, lambda one: one[0], r"values must be \[N, S, M, D\]"),
        (1, lambda one: one[:1], r"shapes must have the shape \(3, 2\)"),
        (2, lambda one: one[:1], r"starts must have the shape \(3,\)"),
        (3, lambda one: one[..., :1], r"locations must be \[N, Q, M, L, P, 2\] with N = 1 and M = 2"),
        (3, lambda one: one[:, :, :1], r"locations must be \[N, Q, M, L, P, 2\] with N = 1 and M = 2"),
        (4, lambda one: one[:, :1], "weights must have the shape"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_launch(place, change, text):
    given = list(scene())
    given[place] = change(given[place])

    with pytest.raises(ValueError, match=text):
        deformable_attention(*given)


@pytest.mark.parametrize(
    ("place", "change", "text"),
    [
        (2, lambda one: one + 1, "a level of 1 by 1 pixels that starts at 27 exceeds the 27 values"),
        (1, lambda one: -one, "exceeds the 27 values"),
    ],
)
def test_levels_that_the_values_do_not_hold_are_refused_on_the_cpu(place, change, text):
    """At each call, also after valid tensors of the same shapes. On a GPU the check would synchronize."""
    given = [one.cpu() for one in scene()]
    deformable_attention(*given)
    given[place] = change(given[place])

    with pytest.raises(ValueError, match=text):
        deformable_attention(*given)


def test_gradients_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="the result's gradient must have the shape"):
        gradients(*scene(), torch.zeros(1, 3, 8))


def test_other_dtypes_and_devices_are_refused():
    value, shapes, starts, locations, weights = scene()
    with pytest.raises(TypeError, match="shapes and starts must be int64 or int32"):
        deformable_attention(value, shapes.float(), starts, locations, weights)
    with pytest.raises(TypeError, match=r"locations of torch\.float64"):
        deformable_attention(value, shapes, starts, locations.double(), weights)
    with pytest.raises(TypeError, match=r"weights of torch\.float32"):
        deformable_attention(value.double(), shapes, starts, locations.double(), weights)
    with pytest.raises(ValueError, match="different devices"):
        deformable_attention(value, shapes.to("meta"), starts, locations, weights)


@pytest.mark.parametrize(("places", "queries"), [(2**25, 1), (1, 2**23)])
def test_sizes_beyond_32_bits_are_refused(places, queries):
    value = torch.empty(1, device="meta").expand(1, places, 8, 32)
    locations = torch.empty(1, device="meta").expand(1, queries, 8, 4, 4, 2)
    shapes, starts = (
        torch.empty(4, 2, dtype=torch.int64, device="meta"),
        torch.empty(4, dtype=torch.int64, device="meta"),
    )

    with pytest.raises(ValueError, match="too many for 32-bit indices"):
        deformable_attention(value, shapes, starts, locations, locations[..., 0])


def test_a_tile_that_is_too_wide_is_refused():
    with pytest.raises(ValueError, match="33 points times 2000 channels are too many"):
        deformable_attention(*scene(points=33, channels=2000, levels=((1, 1),)))


@pytest.mark.parametrize(
    "empty", [{"queries": 0}, {"batch": 0}, {"channels": 0}, {"points": 0}, {"levels": ()}], ids=str
)
def test_nothing_gives_zeros(empty):
    given = scene(**empty)
    result, slope = deformable_attention(*given), slope_of(given)

    assert result.shape == slope.shape
    assert not result.any()
    assert all(not one.any() for one in gradients(*given, slope))


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"heads": 1, "channels": 5, "points": 3, "queries": 9, "levels": ((2, 3), (0, 7), (4, 1))},
        {"batch": 2, "heads": 1, "channels": 1, "points": 1, "queries": 1, "levels": ((1, 1),)},
    ],
    ids=["usual", "odd", "one"],
)
@pytest.mark.parametrize("fixed", [False, True], ids=["atomic", "fixed"])
def test_the_kernels_agree_with_float64(sizes, fixed, tolerance, monkeypatch):
    monkeypatch.setattr("torch.are_deterministic_algorithms_enabled", lambda: fixed)
    given = scene(**sizes)
    slope = slope_of(given)
    result = deformable_attention(*given)

    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    wanted = reference.attend(*exact(given))
    torch.testing.assert_close(result.double(), wanted, **tolerance["float32-deformable-attention"])
    for found, right in zip(gradients(*given, slope), reference.gradients(*exact(given), slope.double()), strict=True):
        torch.testing.assert_close(found.double(), right, **tolerance["float32-deformable-attention-gradient"])


@pytest.mark.usefixtures("poisoned")
def test_every_number_is_written(tolerance):
    """In memory full of NaN, with a number of levels that is no multiple of UNROLL."""
    given = scene(levels=((2, 2), (1, 2), (3, 1)), queries=5, heads=1)
    wanted = reference.attend(*exact(given))

    torch.testing.assert_close(
        deformable_attention(*given).double(), wanted, **tolerance["float32-deformable-attention"]
    )
    assert all(one.isfinite().all() for one in gradients(*given, slope_of(given)))


@pytest.fixture(params=[False, True], ids=["all-read", "masked"])
def masked(request):
    insisted = {"MASKED": request.param}
    tuning.override_parameters("deformable", {"deformable_forward": insisted, "deformable_backward": insisted})
    yield
    tuning.override_parameters("deformable", {})


@pytest.mark.usefixtures("masked")
def test_both_ways_to_leave_out_a_corner_are_the_same():
    """A corner outside the level contributes nothing, even next to a NaN."""
    value, shapes, starts, locations, weights = scene(levels=((2, 2), (2, 2)))
    value[:, 0] = torch.nan
    locations[..., 0, :, :] = 0.75
    locations[..., 1, :, :] = torch.tensor((1.0, -0.2))
    found = deformable_attention(value, shapes, starts, locations, weights)

    assert found.isfinite().all()
    torch.testing.assert_close(found, reference.attend(value, shapes, starts, locations, weights))


@pytest.mark.parametrize("odd", [torch.nan, torch.inf, -1e30])
def test_a_sample_that_is_nowhere_is_nothing(odd):
    value, shapes, starts, locations, weights = scene(queries=2, heads=1)
    locations[0, 1, 0, 0, 0, 1] = odd
    less = weights.clone()
    less[0, 1, 0, 0, 0] = 0
    inside = torch.where(locations.abs() < 2, locations, 0.0)
    found, of = deformable_attention(value, shapes, starts, locations, weights), slope_of(scene(queries=2, heads=1))

    torch.testing.assert_close(found, deformable_attention(value, shapes, starts, inside, less))
    by_value, by_place, by_weight = gradients(value, shapes, starts, locations, weights, of)
    assert by_value.isfinite().all()
    assert not by_place[0, 1, 0, 0, 0].any()
    assert by_weight[0, 1, 0, 0, 0] == 0


def test_a_level_that_the_values_do_not_hold_is_nothing(monkeypatch):
    """On a GPU shapes are not checked before the kernel."""
    monkeypatch.setattr("rocm3d_kernels.deformable.ways.check_levels", lambda *_: None)
    value, shapes, starts, locations, weights = scene()
    less = weights.clone()
    less[:, :, :, 1] = 0
    wrong = shapes.clone()
    wrong[1] = torch.tensor((2**40, 2**40))

    torch.testing.assert_close(
        deformable_attention(value, wrong, starts, locations, weights),
        deformable_attention(value, shapes, starts, locations, less),
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_float32(dtype, tolerance):
    given = scene(dtype=dtype, queries=2)
    slope = slope_of(given)
    result, found = deformable_attention(*given), gradients(*given, slope)
    name = f"{str(dtype).removeprefix('torch.')}-operator"

    assert result.dtype == dtype
    torch.testing.assert_close(result.double(), reference.attend(*exact(given)), **tolerance[name])
    for one, right in zip(found, reference.gradients(*exact(given), slope.double()), strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one.double(), right, **tolerance[name])


def test_dtypes_may_be_mixed_and_strides_any(tolerance):
    value, shapes, starts, locations, weights = scene()
    turned = value.transpose(1, 2).contiguous().transpose(1, 2).half()
    found = deformable_attention(turned, shapes.int(), starts.int(), locations.flip(1).flip(1), weights.bfloat16())
    wanted = reference.attend(turned.double(), shapes, starts, locations.double(), weights.bfloat16().double())

    torch.testing.assert_close(found.double(), wanted, **tolerance["float16-operator"])


def test_the_reference_is_grid_sample_and_is_differentiated_rightly(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    value, shapes, starts, locations, weights = exact(scene(channels=2, queries=2))

    torch.testing.assert_close(
        reference.attend(value, shapes, starts, locations, weights),
        by_grid_sample(value, shapes, starts, locations, weights),
    )
    learned = [one.requires_grad_() for one in (value, locations, weights)]
    assert torch.autograd.gradcheck(
        lambda v, at, w: deformable_attention(v, shapes, starts, at, w), learned, **tolerance["float64-gradcheck"]
    )


def test_autograd_takes_the_kernel_back(tolerance):
    value, shapes, starts, locations, weights = scene(queries=1)
    learned = [one.requires_grad_() for one in (value, locations, weights)]
    result = deformable_attention(value, shapes, starts, locations, weights)
    found = torch.autograd.grad(result, learned, torch.ones_like(result))
    wanted = reference.gradients(*exact((value, shapes, starts, locations, weights)), torch.ones_like(result).double())

    for one, right in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), right, **tolerance["float32-deformable-attention-gradient"])


@pytest.mark.usefixtures("reference_on_cpu")
def test_torch_compile_sees_one_operator():
    value, shapes, starts, locations, weights = scene()
    value.requires_grad_()
    compiled = torch.compile(deformable_attention, fullgraph=True, backend="aot_eager")
    both = [torch.autograd.grad(f(value, shapes, starts, locations, weights).sum(), value)[0]
            for f in (deformable_attention, compiled)]  # fmt: skip

    torch.testing.assert_close(*both)


@pytest.mark.usefixtures("reference_on_cpu")
def test_the_operators_keep_the_rules_of_torch_library():
    given = scene(queries=1)
    learned = tuple(one.requires_grad_() if one.is_floating_point() else one for one in given)

    torch.library.opcheck(torch.ops.rocm3d_kernels.deformable.default, learned)
    torch.library.opcheck(
        torch.ops.rocm3d_kernels.deformable_gradients.default, (*(one.detach() for one in given), slope_of(given))
    )


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_is_offered_to_check_agrees(tolerance):
    offered = list(checks(DEVICE))

    assert len(offered) == 4
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double().cpu(), wanted, **tolerance[name])


def test_what_was_found_out_of_tensors_is_not_taken_for_others(monkeypatch):
    """Shapes, dtypes, devices and the environment are part of the cache key."""
    given = scene()
    deformable_attention(*given)
    with pytest.raises(ValueError, match="weights must have the shape"):
        deformable_attention(*given[:4], given[4][:, :2])
    with pytest.raises(ValueError, match="different devices"):
        deformable_attention(*given[:4], given[4].to("meta"))
    with pytest.raises(ValueError, match="the result's gradient must have"):
        gradients(*given, torch.zeros(1, 3, 8))
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    deformable_attention(*given)
    assert rocm3d_kernels.last_dispatch().implementation == "reference"
    monkeypatch.delenv("ROCM3D_KERNELS")
    deformable_attention(*given)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"


def test_the_same_tensors_may_be_summed_in_any_order_and_in_a_fixed_one_in_turns(tolerance):
    given = scene()
    wanted = reference.gradients(*given, slope_of(given))
    for fixed in (True, False, True):
        torch.use_deterministic_algorithms(fixed)
        try:
            found = gradients(*given, slope_of(given))
        finally:
            torch.use_deterministic_algorithms(False)
        for have, must in zip(found, wanted, strict=True):
            torch.testing.assert_close(have, must, **tolerance["float32-deformable-attention-gradient"])
