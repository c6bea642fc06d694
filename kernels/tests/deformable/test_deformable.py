from __future__ import annotations

import pytest
from tests.device import DEVICE, torch

import rocm3d_kernels
from rocm3d_kernels import tuning
from rocm3d_kernels.deformable import deformable_attention, gradients, reference
from rocm3d_kernels.deformable.checks import checks

LEVELS = ((5, 4), (3, 2), (1, 1))


def arguments(batch=1, heads=2, channels=8, queries=3, points=2, levels=LEVELS, dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    shapes = torch.tensor(levels, dtype=torch.int64).reshape(-1, 2)
    starts = torch.cat((shapes.new_zeros(1), shapes.prod(1).cumsum(0)))[: len(levels)]
    value = torch.randn(batch, int(shapes.prod(1).sum()), heads, channels, generator=generator)
    locations = torch.rand(batch, queries, heads, len(levels), points, 2, generator=generator) * 1.6 - 0.3
    weights = torch.rand(batch, queries, heads, len(levels), points, generator=generator)
    return value.to(dtype), shapes, starts, locations.to(dtype), weights.to(dtype)


def as_float64(tensors):
    return tuple(one.double() if one.is_floating_point() else one for one in tensors)


def by_grid_sample(value, shapes, starts, locations, weights):
    batch, _, heads, channels = value.shape
    total = 0
    for level, (height, width) in enumerate(shapes.tolist()):
        plane = value[:, starts[level] :][:, : height * width].permute(0, 2, 3, 1)
        grid = (2 * locations[:, :, :, level] - 1).transpose(1, 2).flatten(0, 1)
        plane = plane.reshape(batch * heads, channels, height, width)
        samples = torch.nn.functional.grid_sample(plane, grid, align_corners=False)
        total = total + (samples * weights[:, :, :, level].transpose(1, 2).flatten(0, 1)[:, None]).sum(-1)
    return total.view(batch, heads * channels, -1).transpose(1, 2)


def random_gradient(tensors):
    size = (tensors[0].shape[0], tensors[3].shape[1], tensors[0].shape[2] * tensors[0].shape[3])
    return torch.randn(size, generator=torch.Generator().manual_seed(4)).to(tensors[0].dtype)


@pytest.mark.parametrize(
    ("index", "change", "text"),
    [
        (0, lambda one: one[0], r"values must be \[N, S, M, D\]"),
        (1, lambda one: one[:1], r"shapes must have the shape \(3, 2\)"),
        (2, lambda one: one[:1], r"starts must have the shape \(3,\)"),
        (3, lambda one: one[..., :1], r"locations must be \[N, Q, M, L, P, 2\] with N = 1 and M = 2"),
        (3, lambda one: one[:, :, :1], r"locations must be \[N, Q, M, L, P, 2\] with N = 1 and M = 2"),
        (4, lambda one: one[:, :1], "weights must have the shape"),
    ],
)
def test_wrong_shapes_are_rejected_before_a_launch(index, change, text):
    tensors = list(arguments())
    tensors[index] = change(tensors[index])

    with pytest.raises(ValueError, match=text):
        deformable_attention(*tensors)


@pytest.mark.parametrize(
    ("index", "change", "text"),
    [
        (2, lambda one: one + 1, "a level of 1 by 1 pixels that starts at 27 exceeds the 27 values"),
        (1, lambda one: -one, "exceeds the 27 values"),
    ],
)
def test_levels_that_exceed_the_values_are_rejected_on_the_cpu(index, change, text):
    """At each call, also after valid tensors of the same shapes. On a GPU the check would synchronize."""
    tensors = [one.cpu() for one in arguments()]
    deformable_attention(*tensors)
    tensors[index] = change(tensors[index])

    with pytest.raises(ValueError, match=text):
        deformable_attention(*tensors)


def test_gradient_of_wrong_shape_is_rejected():
    with pytest.raises(ValueError, match="the result's gradient must have the shape"):
        gradients(*arguments(), torch.zeros(1, 3, 8))


def test_unsupported_dtypes_and_devices_are_rejected():
    value, shapes, starts, locations, weights = arguments()
    with pytest.raises(TypeError, match="shapes and starts must be int64 or int32"):
        deformable_attention(value, shapes.float(), starts, locations, weights)
    with pytest.raises(TypeError, match=r"locations of torch\.float64"):
        deformable_attention(value, shapes, starts, locations.double(), weights)
    with pytest.raises(TypeError, match=r"weights of torch\.float32"):
        deformable_attention(value.double(), shapes, starts, locations.double(), weights)
    with pytest.raises(ValueError, match="different devices"):
        deformable_attention(value, shapes.to("meta"), starts, locations, weights)


@pytest.mark.parametrize(("pixels", "queries"), [(2**25, 1), (1, 2**23)])
def test_sizes_beyond_32_bits_are_rejected(pixels, queries):
    value = torch.empty(1, device="meta").expand(1, pixels, 8, 32)
    locations = torch.empty(1, device="meta").expand(1, queries, 8, 4, 4, 2)
    shapes, starts = (
        torch.empty(4, 2, dtype=torch.int64, device="meta"),
        torch.empty(4, dtype=torch.int64, device="meta"),
    )

    with pytest.raises(ValueError, match="too many for 32-bit indices"):
        deformable_attention(value, shapes, starts, locations, locations[..., 0])


def test_too_large_tile_is_rejected():
    with pytest.raises(ValueError, match="33 points times 2000 channels are too many"):
        deformable_attention(*arguments(points=33, channels=2000, levels=((1, 1),)))


@pytest.mark.parametrize(
    "empty", [{"queries": 0}, {"batch": 0}, {"channels": 0}, {"points": 0}, {"levels": ()}], ids=str
)
def test_empty_arguments_give_zeros(empty):
    tensors = arguments(**empty)
    result, grad_output = deformable_attention(*tensors), random_gradient(tensors)

    assert result.shape == grad_output.shape
    assert not result.any()
    assert all(not one.any() for one in gradients(*tensors, grad_output))


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"heads": 1, "channels": 5, "points": 3, "queries": 9, "levels": ((2, 3), (0, 7), (4, 1))},
        {"batch": 2, "heads": 1, "channels": 1, "points": 1, "queries": 1, "levels": ((1, 1),)},
    ],
    ids=["usual", "odd", "one"],
)
@pytest.mark.parametrize("deterministic", [False, True], ids=["atomic", "fixed"])
def test_kernels_agree_with_float64(sizes, deterministic, tolerance, monkeypatch):
    monkeypatch.setattr("torch.are_deterministic_algorithms_enabled", lambda: deterministic)
    tensors = arguments(**sizes)
    grad_output = random_gradient(tensors)
    result = deformable_attention(*tensors)

    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    expected = reference.forward(*as_float64(tensors))
    torch.testing.assert_close(result.double(), expected, **tolerance["float32-deformable-attention"])
    for gradient, exact_gradient in zip(
        gradients(*tensors, grad_output), reference.gradients(*as_float64(tensors), grad_output.double()), strict=True
    ):
        torch.testing.assert_close(
            gradient.double(), exact_gradient, **tolerance["float32-deformable-attention-gradient"]
        )


@pytest.mark.usefixtures("poisoned")
def test_every_output_element_is_written(tolerance):
    """In memory full of NaN, with a number of levels that is no multiple of UNROLL."""
    tensors = arguments(levels=((2, 2), (1, 2), (3, 1)), queries=5, heads=1)
    expected = reference.forward(*as_float64(tensors))

    torch.testing.assert_close(
        deformable_attention(*tensors).double(), expected, **tolerance["float32-deformable-attention"]
    )
    assert all(one.isfinite().all() for one in gradients(*tensors, random_gradient(tensors)))


@pytest.fixture(params=[False, True], ids=["all-read", "masked"])
def masked(request):
    parameters = {"MASKED": request.param}
    tuning.override_parameters("deformable", {"deformable_forward": parameters, "deformable_backward": parameters})
    yield
    tuning.override_parameters("deformable", {})


@pytest.mark.usefixtures("masked")
def test_masked_and_branchless_loads_agree():
    """A corner outside the level contributes nothing, even next to a NaN."""
    value, shapes, starts, locations, weights = arguments(levels=((2, 2), (2, 2)))
    value[:, 0] = torch.nan
    locations[..., 0, :, :] = 0.75
    locations[..., 1, :, :] = torch.tensor((1.0, -0.2))
    result = deformable_attention(value, shapes, starts, locations, weights)

    assert result.isfinite().all()
    torch.testing.assert_close(result, reference.forward(value, shapes, starts, locations, weights))


@pytest.mark.parametrize("coordinate", [torch.nan, torch.inf, -1e30])
def test_location_that_is_not_finite_contributes_nothing(coordinate):
    value, shapes, starts, locations, weights = arguments(queries=2, heads=1)
    locations[0, 1, 0, 0, 0, 1] = coordinate
    reduced_weights = weights.clone()
    reduced_weights[0, 1, 0, 0, 0] = 0
    inside = torch.where(locations.abs() < 2, locations, 0.0)
    result, grad_output = (
        deformable_attention(value, shapes, starts, locations, weights),
        random_gradient(arguments(queries=2, heads=1)),
    )

    torch.testing.assert_close(result, deformable_attention(value, shapes, starts, inside, reduced_weights))
    grad_value, grad_locations, grad_weights = gradients(value, shapes, starts, locations, weights, grad_output)
    assert grad_value.isfinite().all()
    assert not grad_locations[0, 1, 0, 0, 0].any()
    assert grad_weights[0, 1, 0, 0, 0] == 0


def test_level_that_exceeds_the_values_contributes_nothing(monkeypatch):
    """On a GPU shapes are not checked before the kernel."""
    monkeypatch.setattr("rocm3d_kernels.deformable.implementations.check_levels", lambda *_: None)
    value, shapes, starts, locations, weights = arguments()
    reduced_weights = weights.clone()
    reduced_weights[:, :, :, 1] = 0
    wrong_shapes = shapes.clone()
    wrong_shapes[1] = torch.tensor((2**40, 2**40))

    torch.testing.assert_close(
        deformable_attention(value, wrong_shapes, starts, locations, weights),
        deformable_attention(value, shapes, starts, locations, reduced_weights),
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_float32(dtype, tolerance):
    tensors = arguments(dtype=dtype, queries=2)
    grad_output = random_gradient(tensors)
    result, results = deformable_attention(*tensors), gradients(*tensors, grad_output)
    name = f"{str(dtype).removeprefix('torch.')}-operator"

    assert result.dtype == dtype
    torch.testing.assert_close(result.double(), reference.forward(*as_float64(tensors)), **tolerance[name])
    for gradient, exact_gradient in zip(
        results, reference.gradients(*as_float64(tensors), grad_output.double()), strict=True
    ):
        assert gradient.dtype == dtype
        torch.testing.assert_close(gradient.double(), exact_gradient, **tolerance[name])


def test_mixed_dtypes_and_any_strides_are_supported(tolerance):
    value, shapes, starts, locations, weights = arguments()
    transposed = value.transpose(1, 2).contiguous().transpose(1, 2).half()
    result = deformable_attention(transposed, shapes.int(), starts.int(), locations.flip(1).flip(1), weights.bfloat16())
    expected = reference.forward(transposed.double(), shapes, starts, locations.double(), weights.bfloat16().double())

    torch.testing.assert_close(result.double(), expected, **tolerance["float16-operator"])


def test_reference_equals_grid_sample_with_its_gradient(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    value, shapes, starts, locations, weights = as_float64(arguments(channels=2, queries=2))

    torch.testing.assert_close(
        reference.forward(value, shapes, starts, locations, weights),
        by_grid_sample(value, shapes, starts, locations, weights),
    )
    leaves = [one.requires_grad_() for one in (value, locations, weights)]
    assert torch.autograd.gradcheck(
        lambda v, loc, w: deformable_attention(v, shapes, starts, loc, w), leaves, **tolerance["float64-gradcheck"]
    )


def test_autograd_uses_the_backward_kernel(tolerance):
    value, shapes, starts, locations, weights = arguments(queries=1)
    leaves = [one.requires_grad_() for one in (value, locations, weights)]
    result = deformable_attention(value, shapes, starts, locations, weights)
    results = torch.autograd.grad(result, leaves, torch.ones_like(result))
    expected = reference.gradients(
        *as_float64((value, shapes, starts, locations, weights)), torch.ones_like(result).double()
    )

    for one, exact_gradient in zip(results, expected, strict=True):
        torch.testing.assert_close(one.double(), exact_gradient, **tolerance["float32-deformable-attention-gradient"])


@pytest.mark.usefixtures("reference_on_cpu")
def test_torch_compile_captures_one_operator():
    value, shapes, starts, locations, weights = arguments()
    value.requires_grad_()
    compiled = torch.compile(deformable_attention, fullgraph=True, backend="aot_eager")
    both = [torch.autograd.grad(f(value, shapes, starts, locations, weights).sum(), value)[0]
            for f in (deformable_attention, compiled)]  # fmt: skip

    torch.testing.assert_close(*both)


@pytest.mark.usefixtures("reference_on_cpu")
def test_operators_pass_opcheck():
    tensors = arguments(queries=1)
    leaves = tuple(one.requires_grad_() if one.is_floating_point() else one for one in tensors)

    torch.library.opcheck(torch.ops.rocm3d_kernels.deformable.default, leaves)
    torch.library.opcheck(
        torch.ops.rocm3d_kernels.deformable_gradients.default,
        (*(one.detach() for one in tensors), random_gradient(tensors)),
    )


@pytest.mark.usefixtures("reference_on_cpu")
def test_checks_agree_with_the_reference(tolerance):
    cases = list(checks(DEVICE))

    assert len(cases) == 4
    for _, call, expected, name in cases:
        torch.testing.assert_close(call().double().cpu(), expected, **tolerance[name])


def test_cached_implementation_is_not_used_for_other_arguments(monkeypatch):
    """Shapes, dtypes, devices and the environment are part of the cache key."""
    tensors = arguments()
    deformable_attention(*tensors)
    with pytest.raises(ValueError, match="weights must have the shape"):
        deformable_attention(*tensors[:4], tensors[4][:, :2])
    with pytest.raises(ValueError, match="different devices"):
        deformable_attention(*tensors[:4], tensors[4].to("meta"))
    with pytest.raises(ValueError, match="the result's gradient must have"):
        gradients(*tensors, torch.zeros(1, 3, 8))
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    deformable_attention(*tensors)
    assert rocm3d_kernels.last_dispatch().implementation == "reference"
    monkeypatch.delenv("ROCM3D_KERNELS")
    deformable_attention(*tensors)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"


def test_deterministic_mode_can_be_switched_between_calls(tolerance):
    tensors = arguments()
    expected = reference.gradients(*tensors, random_gradient(tensors))
    for deterministic in (True, False, True):
        torch.use_deterministic_algorithms(deterministic)
        try:
            results = gradients(*tensors, random_gradient(tensors))
        finally:
            torch.use_deterministic_algorithms(False)
        for gradient, exact_gradient in zip(results, expected, strict=True):
            torch.testing.assert_close(gradient, exact_gradient, **tolerance["float32-deformable-attention-gradient"])
