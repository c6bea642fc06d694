from __future__ import annotations

import gc
import math
import weakref

import pytest
from tests.device import by_reference, reference_for, torch
from tests.properties import Phase, given, settings, some

import rocm3d_kernels
from rocm3d_kernels.gaussian import rasterization
from rocm3d_kernels.image_formation import SMALLEST_ALPHA
from rocm3d_kernels.tiles import slot_guess

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    # The interpreter warns if an unused lane divides by zero.
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

WIDTH, HEIGHT = 21, 13
NAMES = ("means", "quats", "scales", "opacities", "colors", "viewmats", "intrinsics")


def scene(count=9, cameras=1, channels=3, batch=(), seed=0, **more):
    """Arguments of a small image of Gaussians in front of a camera."""
    numbers = torch.Generator().manual_seed(seed)
    views = torch.eye(4).repeat(*batch, cameras, 1, 1)
    views[..., 2, 3] = 3.0
    views[..., 0, 3] = 0.2 * torch.arange(cameras)
    focal = torch.tensor([[16.0, 0, 10], [0, 17, 6], [0, 0, 1]]).repeat(*batch, cameras, 1, 1)
    return {
        "means": torch.randn(*batch, count, 3, generator=numbers) * 0.5,
        "quats": torch.randn(*batch, count, 4, generator=numbers),
        "scales": torch.rand(*batch, count, 3, generator=numbers) * 0.3 + 0.02,
        "opacities": torch.rand(*batch, count, generator=numbers) * 0.9 + 0.05,
        "colors": torch.rand(*batch, count, channels, generator=numbers),
        "viewmats": views,
        "intrinsics": focal,
        "width": WIDTH,
        "height": HEIGHT,
        **more,
    }


def with_gradients(arguments, dtype=torch.float32):
    """The same with leaves that require gradients, except the intrinsics."""
    return {
        name: value.detach().to(dtype).requires_grad_(name != "intrinsics")
        if isinstance(value, torch.Tensor)
        else value
        for name, value in arguments.items()
    }


def render_with_gradients(arguments, dtype=torch.float32):
    """Image, alphas, gradients by name (loss: fixed random weights), meta."""
    arguments = with_gradients(arguments, dtype)
    with reference_for(dtype):
        image, alphas, meta = rasterization(**arguments)
    numbers = torch.Generator().manual_seed(1)
    weights = torch.randn(image.shape, generator=numbers), torch.randn(alphas.shape, generator=numbers)
    leaves = {name: one for name, one in arguments.items() if isinstance(one, torch.Tensor) and one.requires_grad}
    grads = torch.autograd.grad(
        (image * weights[0]).sum() + (alphas * weights[1]).sum(), list(leaves.values()), materialize_grads=True
    )
    return image.detach(), alphas.detach(), dict(zip(leaves, grads, strict=True)), meta


def assert_matches_float64(arguments, tolerance):
    """Kernels in float32 against the reference in float64."""
    image, alphas, grads, meta = render_with_gradients(arguments)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    expected, expected_alphas, expected_grads, _ = render_with_gradients(arguments, torch.float64)
    assert rocm3d_kernels.last_dispatch().implementation == "reference"
    assert_images_close(image, expected, tolerance)
    assert_images_close(alphas, expected_alphas, tolerance)
    for name, one in expected_grads.items():
        scale = max(one.abs().max().item(), 1.0)
        gradient = grads[name].double()
        assert gradient.isfinite().all(), name
        torch.testing.assert_close(
            gradient / scale,
            one / scale,
            **tolerance["float32-splat-gradient"],
            msg=lambda text, name=name: f"{name}: {text}",
        )
    return image, alphas, meta


def assert_images_close(actual, expected, tolerance):
    """Equal except for pixels at which a Gaussian is at the smallest alpha: rounding may drop it."""
    scale = max(expected.abs().max().item(), 1.0)
    torch.testing.assert_close(actual.double() / scale, expected / scale, **tolerance["float32-splat-forward"])
    off = (actual.double() - expected).abs().amax(dim=-1) / scale > SMALLEST_ALPHA / 20
    assert off.float().mean() <= 0.01


# Refused arguments.


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"render_mode": "XYZ"}, "render_mode is 'XYZ'"),
        ({"width": 0}, "the image is empty: 0 x 13"),
        ({"means": torch.zeros(3)}, r"means must be \[..., N, 3\]"),
        ({"means": torch.zeros(9, 2)}, "means must be"),
        ({"quats": torch.zeros(9, 3)}, "quats must be"),
        ({"quats": None}, "pass either covars, or quats and scales"),
        ({"scales": torch.zeros(8, 3)}, "scales must be"),
        ({"opacities": torch.zeros(9, 1)}, "opacities must be"),
        ({"viewmats": torch.zeros(4, 4)}, r"viewmats \[..., C, 4, 4\]"),
        ({"viewmats": torch.zeros(1, 3, 4)}, "viewmats must be"),
        ({"intrinsics": torch.zeros(2, 3, 3)}, r"intrinsics \(Ks\) must be"),
        ({"colors": torch.zeros(8, 3)}, "colors must be"),
        ({"colors": torch.zeros(9, 0)}, "colors must be"),
        ({"colors": torch.zeros(9, 3, 3), "sh_degree": 1}, "K of at least 4"),
        ({"colors": torch.zeros(9, 36, 3), "sh_degree": 5}, "sh_degree is 5"),
        ({"backgrounds": torch.zeros(3)}, "backgrounds must be"),
        ({"covars": torch.zeros(9, 6)}, r"covars must be \[..., N, 3, 3\]"),
        ({"opacities": torch.zeros(9).double()}, "all tensors must be torch.float32"),
        ({"colors": torch.zeros(9, 3, device="meta")}, "on meta"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_wrong_arguments_are_refused_before_a_launch(change, text):
    with pytest.raises(ValueError, match=text):
        rasterization(**{**scene(), **change})


def test_other_cameras_and_dtypes_are_refused():
    with pytest.raises(NotImplementedError, match="'fisheye' is not covered"):
        rasterization(**scene(camera_model="fisheye"))
    half = {name: one.half() if isinstance(one, torch.Tensor) else one for name, one in scene().items()}
    with pytest.raises(TypeError, match="float16 is not supported"):
        rasterization(**half)


def test_the_reference_refuses_absolute_gradients(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    exact = {name: one.double() if isinstance(one, torch.Tensor) else one for name, one in scene(absgrad=True).items()}

    with pytest.raises(NotImplementedError, match="the reference does not support absgrad"):
        rasterization(**exact)


# Against the reference.


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"cameras": 2, "backgrounds": torch.rand(2, 3)},
        {"channels": 1},
        {"channels": 2, "antialiased": True},
        {"channels": 4, "camera_model": "ortho", "near_plane": 0.1},
        {"channels": 5, "backgrounds": torch.rand(1, 5)},
        {"render_mode": "D"},
        {"render_mode": "ED"},
        {"render_mode": "RGB+D", "backgrounds": torch.rand(1, 3)},
        {"render_mode": "RGB+ED", "cameras": 2},
        {"batch": (2,), "cameras": 2, "count": 4},
        {"antialiased": True, "eps2d": 0.1, "cameras": 2},
        {"deterministic": False, "radius_clip": 3.0},
    ],
    ids=lambda more: (
        "-".join(f"{name}={value}" if not isinstance(value, torch.Tensor) else name for name, value in more.items())
        or "plain"
    ),
)
def test_images_and_gradients_agree_with_float64(more, tolerance):
    assert_matches_float64(scene(**more), tolerance)


def test_thirty_two_channels(tolerance):
    assert_matches_float64(scene(count=4, channels=32), tolerance)


@pytest.mark.parametrize("shape", [(9, 4, 3), (2, 9, 4, 3)], ids=["shared", "by-image"])
@pytest.mark.parametrize("deterministic", [False, True])
def test_harmonics_as_colors(shape, deterministic, tolerance):
    coefficients = torch.randn(shape, generator=torch.Generator().manual_seed(2)) * 0.5
    assert_matches_float64(
        {**scene(cameras=2), "colors": coefficients, "sh_degree": 1, "deterministic": deterministic}, tolerance
    )


def test_colors_by_image(tolerance):
    assert_matches_float64({**scene(cameras=2), "colors": torch.rand(2, 9, 3)}, tolerance)


def test_covariances_instead_of_quaternions(tolerance):
    arguments = scene()
    root = torch.randn(9, 3, 3, generator=torch.Generator().manual_seed(4)) * 0.15
    covars = root @ root.mT
    assert_matches_float64({**arguments, "covars": covars, "quats": None, "scales": None}, tolerance)
    # A symmetric matrix and its transpose give the same image.
    same = rasterization(**{**arguments, "covars": covars})[0]
    torch.testing.assert_close(rasterization(**{**arguments, "covars": covars.mT})[0], same)


@settings(max_examples=5, phases=(Phase.explicit, Phase.generate))
@given(some.integers(0, 10**6), some.integers(1, 6), some.integers(1, 30), some.integers(1, 20), some.booleans())
def test_any_small_scene_agrees(tolerance, seed, count, width, height, antialiased):
    arguments = {**scene(count, seed=seed), "width": width, "height": height, "antialiased": antialiased}
    exact = {name: one.double() if isinstance(one, torch.Tensor) else one for name, one in arguments.items()}
    with by_reference():
        truth = rasterization(**exact)[:2]
    for actual, expected in zip(rasterization(**arguments)[:2], truth, strict=True):
        torch.testing.assert_close(actual.double(), expected, **tolerance["float32-splat-forward"])


def test_reference_passes_gradcheck(monkeypatch, tolerance):
    """Opaque and wide Gaussians in the middle, far from every threshold."""
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    arguments = scene(count=2, antialiased=True)
    arguments |= {"width": 4, "height": 3, "scales": torch.full((2, 3), 0.5), "opacities": torch.tensor([0.5, 0.6])}
    arguments["means"] = torch.tensor([[0.0, 0.1, 0.0], [0.1, 0.0, 0.6]])
    arguments["intrinsics"] = torch.tensor([[[4.0, 0, 2], [0, 4, 1.5], [0, 0, 1]]])
    arguments = with_gradients(arguments, torch.float64)
    names = [name for name in NAMES if name != "intrinsics"]

    def call(*leaves):
        return rasterization(**{**arguments, **dict(zip(names, leaves, strict=True))})[:2]

    assert torch.autograd.gradcheck(call, [arguments[name] for name in names], **tolerance["float64-gradcheck"])


# The meta dict.


def test_meta_has_the_names_and_shapes_of_gsplat():
    arguments = scene(cameras=2)
    _, _, meta = rasterization(**arguments)

    assert meta["radii"].shape == meta["means2d"].shape == (2, 9, 2)
    assert (meta["conics"].shape, meta["depths"].shape, meta["opacities"].shape) == ((2, 9, 3), (2, 9), (2, 9))
    assert meta["isect_offsets"].shape == (2, meta["tile_height"], meta["tile_width"])
    assert meta["flatten_ids"].dtype == torch.int32
    assert (meta["width"], meta["height"], meta["n_cameras"], meta["n_batches"]) == (WIDTH, HEIGHT, 2, 1)
    assert meta.get("no such thing", 5) == 5
    assert {**meta}.keys() == dict(meta.items()).keys()
    assert not any(callable(value) for value in {**meta}.values())


def test_packed_meta_holds_visible_gaussians_only(tolerance):
    arguments = scene(cameras=2)
    arguments["means"][3, 2] = -9.0
    image, _, meta = assert_matches_float64({**arguments, "packed": True}, tolerance)
    loose = rasterization(**arguments)

    torch.testing.assert_close(image, loose[0])
    rows = (loose[2]["radii"] > 0).all(dim=-1)
    assert 3 not in meta["gaussian_ids"]
    assert meta["means2d"].shape == (int(rows.sum()), 2)
    assert torch.equal(torch.stack((meta["camera_ids"], meta["gaussian_ids"])).T, rows.nonzero())
    assert torch.equal(meta["batch_ids"], torch.zeros_like(meta["camera_ids"]))


@pytest.mark.parametrize("packed", [False, True])
def test_means2d_gets_grad_and_absgrad(packed, tolerance):
    """Expected absgrad: absolute gradients of single pixels of the reference."""
    arguments = scene(count=3, channels=2, packed=packed, absgrad=True)
    arguments |= {"width": 6, "height": 5, "intrinsics": torch.tensor([[[5.0, 0, 3], [0, 5, 2.5], [0, 0, 1]]])}
    inputs = with_gradients(arguments)
    image, _, meta = rasterization(**inputs)
    weights = torch.rand(image.shape, generator=torch.Generator().manual_seed(1))
    watched = meta["means2d"]  # accessed before backward, so it gets .grad
    (image * weights).sum().backward()

    exact = with_gradients({**arguments, "absgrad": False, "packed": False}, torch.float64)
    with by_reference():
        expected, _, expected_meta = rasterization(**exact)
    pixels = (expected * weights).sum(dim=-1).flatten()
    pixel_grads = torch.stack(
        [torch.autograd.grad(one, expected_meta["means2d"], retain_graph=True)[0] for one in pixels]
    )
    assert watched.is_leaf
    assert meta["means2d"] is watched
    torch.testing.assert_close(
        watched.grad.double().view(-1, 2), pixel_grads.sum(0)[0], **tolerance["float32-splat-gradient"]
    )
    torch.testing.assert_close(
        watched.absgrad.double().view(-1, 2), pixel_grads.abs().sum(0)[0], **tolerance["float32-splat-gradient"]
    )


def test_deterministic_gradients_are_equal_bit_by_bit(tolerance):
    arguments = scene(cameras=2, backgrounds=torch.rand(2, 3))
    first, second = (render_with_gradients({**arguments, "deterministic": True})[2] for _ in range(2))
    loose = render_with_gradients({**arguments, "deterministic": False})[2]

    for name, one in first.items():
        assert torch.equal(one, second[name]), name
        torch.testing.assert_close(one, loose[name], **tolerance["float32-splat-gradient"])


@pytest.mark.parametrize(
    ("times", "part"), [(1, lambda full: full.transmittance), (2, lambda small: small._pixel_state)]
)
def test_backward_state_is_freed_with_the_image(monkeypatch, times, part):
    """Without the garbage collector: it is the largest part of the memory."""
    monkeypatch.setattr(slot_guess, "_HISTORIES", {})
    for _ in range(times):  # the second rendering uses guessed slots
        image, alphas, meta = rasterization(**with_gradients(scene()), deterministic=False)
    state = weakref.ref(part(image.grad_fn.rendered))
    gc.disable()
    del image, alphas, meta
    is_freed = state() is None
    gc.enable()

    assert is_freed


def test_backward_runs_twice_with_retain_graph_only():
    inputs = with_gradients(scene())
    image = rasterization(**inputs)[0]
    image.sum().backward(retain_graph=True)
    first = inputs["means"].grad.clone()
    image.sum().backward()

    torch.testing.assert_close(inputs["means"].grad, 2 * first)
    assert image.grad_fn.rendered is None
    with pytest.raises(RuntimeError, match="second time"):
        image.sum().backward()


# Edge cases: few or no Gaussians, values that are not finite.


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["kernel", "reference"])
def test_nothing_to_draw_is_the_background(dtype):
    back = torch.tensor([[0.1, 0.2, 0.3]])
    for arguments in (scene(count=0), {**scene(), "means": scene()["means"] - torch.tensor([0, 0, 9.0])}):
        image, alphas, grads, meta = render_with_gradients({**arguments, "backgrounds": back}, dtype)

        torch.testing.assert_close(image, back.to(dtype).expand_as(image))
        assert not alphas.any()
        assert (meta["radii"] == 0).all()
        assert not any(one.any() for name, one in grads.items() if name != "backgrounds")


def test_one_gaussian_in_one_pixel():
    """At the mean, alpha is the opacity."""
    arguments = scene(count=1)
    arguments |= {
        "width": 1, "height": 1, "means": torch.zeros(1, 3), "opacities": torch.tensor([0.4]),
        "intrinsics": torch.tensor([[[9.0, 0, 0.5], [0, 9.0, 0.5], [0, 0, 1]]]), "render_mode": "RGB+D",
    }  # fmt: skip
    image, alphas, _ = rasterization(**arguments)

    assert alphas.item() == pytest.approx(0.4)
    assert image.flatten().tolist() == pytest.approx([*(0.4 * arguments["colors"][0]).tolist(), 0.4 * 3.0])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30])
@pytest.mark.parametrize("name", ["means", "quats", "scales", "opacities"])
def test_non_finite_gaussian_hides_only_itself(name, bad):
    arguments = scene(count=5)
    if name == "opacities" and bad > 0:
        # Opacity above 1 is allowed: alpha has a cap.
        arguments["opacities"][1] = bad
        assert rasterization(**arguments)[0].isfinite().all()
        return
    arguments[name][1] = bad
    if name == "quats" and bad == 1e30:
        arguments["scales"][1] = torch.nan
    image, _, grads, meta = render_with_gradients(arguments)
    rest = {key: one[[0, 2, 3, 4]] if key in NAMES[:5] else one for key, one in arguments.items()}

    assert (meta["radii"][0, 1] == 0).all()
    torch.testing.assert_close(image, rasterization(**rest)[0])
    assert all(one.isfinite().all() for one in grads.values())
    assert not any(grads[key][1].any() for key in NAMES[:5])


def test_a_gaussian_far_larger_than_the_picture(tolerance):
    arguments = scene(count=3)
    arguments["scales"][0] = 1e4
    assert_matches_float64(arguments, tolerance)


def test_strides_of_any_kind_are_taken():
    arguments = scene()
    turned = {
        name: one.mT.contiguous().mT if isinstance(one, torch.Tensor) and one.dim() > 1 else one
        for name, one in arguments.items()
    }
    turned["opacities"] = torch.stack((arguments["opacities"],) * 2, dim=1)[:, 0]

    assert not turned["means"].is_contiguous()
    assert torch.equal(rasterization(**turned)[0], rasterization(**arguments)[0])
