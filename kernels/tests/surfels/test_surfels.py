from __future__ import annotations

import math

import pytest
from tests.device import by_reference, reference_for, torch
from torch._subclasses.fake_tensor import FakeTensorMode

import rocm3d_kernels
from rocm3d_kernels.surfels import rasterization, reference
from rocm3d_kernels.surfels.operator import SurfelSettings

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    # The interpreter warns if an unused lane divides by zero.
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

WIDTH, HEIGHT = 21, 13


def scene(count=7, cameras=1, channels=3, batch=(), **more):
    """Arguments of a small image of surfels in front of a camera."""
    numbers = torch.Generator().manual_seed(0)
    views = torch.eye(4).repeat(*batch, cameras, 1, 1)
    views[..., 2, 3] = 3.0
    views[..., 0, 3] = 0.2 * torch.arange(cameras)
    return {
        "means": torch.randn(*batch, count, 3, generator=numbers) * 0.5,
        "quats": torch.randn(*batch, count, 4, generator=numbers),
        "scales": torch.rand(*batch, count, 3, generator=numbers) * 0.3 + 0.02,
        "opacities": torch.rand(*batch, count, generator=numbers) * 0.9 + 0.05,
        "colors": torch.rand(*batch, count, channels, generator=numbers),
        "viewmats": views,
        "intrinsics": torch.tensor([[16.0, 0, 10], [0, 17, 6], [0, 0, 1]]).repeat(*batch, cameras, 1, 1),
        "width": WIDTH,
        "height": HEIGHT,
        **more,
    }


def in_float64(arguments):
    return {name: one.double() if isinstance(one, torch.Tensor) else one for name, one in arguments.items()}


def assert_matches_float64(arguments, tolerance):
    """Kernels in float32 against the reference in float64."""
    actual = rasterization(**arguments)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    with by_reference():
        expected = rasterization(**in_float64(arguments))
    assert rocm3d_kernels.last_dispatch().implementation == "reference"
    for name, one, true in zip(actual._fields[:5], actual, expected, strict=False):
        scale = max(true.abs().max().item(), 1.0)
        torch.testing.assert_close(
            one.double() / scale, true / scale, **tolerance["float32-splat-forward"],
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip
    assert torch.equal(actual.meta["radii"], expected.meta["radii"])
    return actual


# Refused arguments.


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"render_mode": "XYZ"}, "render_mode is 'XYZ'"),
        ({"height": 0}, "the image is empty: 21 x 0"),
        ({"scales": torch.zeros(7, 2)}, "scales must be"),
        ({"quats": None}, "pass either covars, or quats and scales"),
        ({"colors": torch.zeros(7, 3, 3), "sh_degree": 1}, "K of at least 4"),
        ({"opacities": torch.zeros(7).double()}, "all tensors must be torch.float32"),
        ({"backgrounds": torch.zeros(3)}, "backgrounds must be"),
        ({"watched": torch.zeros(7, 2)}, r"watched must be \[..., C, N, 2\]"),
    ],
)
def test_wrong_arguments_are_refused_before_a_launch(change, text):
    with pytest.raises(ValueError, match=text):
        rasterization(**scene(**change))


def test_gradients_under_torch_compile_are_refused():
    arguments = scene(count=2)
    tensors = [arguments[name] for name in list(arguments)[:7]]
    compiled = torch.compile(_images, fullgraph=True, backend="aot_eager")

    with pytest.raises(Exception, match=r"surfels: gradients are not supported under torch\.compile"):
        compiled(tensors[0].requires_grad_(), *tensors[1:])


# Images.


@pytest.mark.parametrize(
    "arguments",
    [
        scene(cameras=2, colors=torch.randn(7, 4, 3) * 0.3, sh_degree=1, render_mode="RGB+ED",
              backgrounds=torch.rand(2, 3)),
        scene(channels=6, batch=(2,), render_mode="RGB+D"),
        scene(cameras=2, colors=torch.rand(2, 7, 1)),
        scene(render_mode="D"),
        scene(cameras=2, colors=torch.randn(2, 7, 1, 3), sh_degree=0),
    ],
    ids=["harmonics", "batches", "colours-by-camera", "depths", "harmonics-by-camera"],
)  # fmt: skip
def test_the_kernels_agree_with_float64(arguments, tolerance):
    assert_matches_float64(arguments, tolerance)


def test_a_disc_before_the_camera_is_a_gaussian_of_its_plane(monkeypatch):
    """At depth 2 with a focal length of 8, one unit of the plane is four pixels."""
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    one = torch.eye(3, dtype=torch.float64)
    lens = torch.tensor([[[8.0, 0, 10], [0, 8, 6], [0, 0, 1]]], dtype=torch.float64)
    actual = rasterization(
        torch.tensor([[0.0, 0, 2]]).double(), torch.tensor([[2.0, 0, 0, 0]]).double(),
        torch.tensor([[0.5, 1.0, 9.0]]).double(), torch.tensor([0.8]).double(), one[:1], torch.eye(4).double()[None],
        lens, WIDTH, HEIGHT,
    )  # fmt: skip
    y, x = torch.meshgrid(torch.arange(HEIGHT) + 0.5, torch.arange(WIDTH) + 0.5, indexing="ij")
    power = ((x - 10) / 4 / 0.5) ** 2 + ((y - 6) / 4) ** 2
    expected = 0.8 * torch.exp(-0.5 * power.double())
    expected = torch.where(expected >= 1 / 255, expected, 0.0)

    torch.testing.assert_close(actual.alphas[0, ..., 0], expected)
    torch.testing.assert_close(actual.normals[0], expected[..., None] * torch.tensor([0.0, 0, -1]).double())
    assert actual.meta["means2d"][0, 0].tolist() == [10, 6]
    assert actual.meta["radii"][0, 0].tolist() == [math.ceil(3.33 * 2), math.ceil(3.33 * 4)]


def test_the_box_is_around_the_circle_of_one_deviation():
    tensors = [one[None] for one in list(in_float64(scene()).values())[:7]]
    records, _ = reference.project(*tensors[:4], tensors[5], tensors[6], (WIDTH, HEIGHT), 0.01, 1e10, 0.0)
    angle = torch.linspace(0, 2 * math.pi, 20001, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin(), torch.ones_like(angle)])
    points = records[0, :, :9].unflatten(-1, (3, 3)) @ circle
    positions = points[:, :2] / points[:, 2:]
    low, high = positions.amin(dim=-1), positions.amax(dim=-1)
    middle, squares, _ = reference._box(records[0, :, :9].unflatten(-1, (3, 3)))

    torch.testing.assert_close(middle, (low + high) / 2, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(squares.sqrt(), (high - low) / 2, rtol=1e-5, atol=1e-6)


def test_distortion_is_the_sum_over_pairs_and_the_median_the_depth_of_half_the_light(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    depths, alphas = torch.tensor([4.0, 1.0, 2.0]), torch.tensor([0.9, 0.3, 0.4])
    actual = rasterization(
        torch.stack([0 * depths, 0 * depths, depths], dim=-1), torch.eye(4)[:1].expand(3, 4), torch.ones(3, 3),
        alphas, torch.ones(3, 1), torch.eye(4)[None], torch.tensor([[[1.0, 0, 0.5], [0, 1, 0.5], [0, 0, 1]]]), 1, 1,
    )  # fmt: skip
    weights = torch.tensor([0.9 * 0.7 * 0.6, 0.3, 0.7 * 0.4])
    pairs = weights[:, None] * weights * (depths[:, None] - depths).abs()

    assert actual.distortion.item() == pytest.approx(pairs.sum().item(), rel=1e-5)
    # T is 0.7 at the second surfel, 0.42 at the third.
    assert actual.median.item() == 2.0
    assert actual.alphas.item() == pytest.approx(weights.sum().item())


@pytest.mark.parametrize("count", [0, 1])
def test_no_visible_surfel_gives_the_background(count):
    arguments = scene(count=count, backgrounds=torch.tensor([[0.1, 0.2, 0.3]]))
    arguments["means"] = arguments["means"] - 9.0
    actual = rasterization(**arguments)

    assert torch.equal(actual.image, torch.tensor([0.1, 0.2, 0.3]).expand(1, HEIGHT, WIDTH, 3))
    assert not any(one.any() for one in actual[1:5])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["means", "quats", "scales", "opacities"])
def test_non_finite_surfel_is_invisible(name, bad):
    # A small image is enough.
    arguments = scene(count=2, width=6, height=5)
    arguments["means"] = arguments["means"] * 0
    arguments[name].view(2, -1)[0, 0] = bad
    actual = rasterization(**arguments)

    assert not actual.meta["radii"][0, 0].any()
    assert actual.meta["radii"][0, 1].all()
    assert all(one.isfinite().all() for one in actual[:5])


def test_a_disc_from_the_side_and_a_huge_one_are_drawn(tolerance):
    arguments = scene(count=2)
    arguments["means"] = torch.tensor([[0.0, 0, 0], [0.1, 0, 1]])
    arguments["opacities"] = torch.tensor([0.9, 0.5])
    # One rotated by 90 degrees about the vertical axis, one wider than the image.
    arguments["quats"] = torch.tensor([[1.0, 0, 1, 0], [1.0, 0, 0, 0]])
    arguments["scales"] = torch.tensor([[0.5, 0.5, 1], [1e4, 1e4, 1]])
    actual = assert_matches_float64(arguments, tolerance)

    torch.testing.assert_close(actual.alphas[0, 0], torch.full((WIDTH, 1), 0.5))
    # The disc is between two columns of pixels, half a pixel from each.
    assert actual.alphas[0, 6, 9].item() == pytest.approx(1 - 0.5 * (1 - 0.9 * math.exp(-0.5)), rel=1e-3)


def test_strides_of_any_kind_and_one_pixel(tolerance):
    arguments = scene(count=3, width=1, height=1)
    arguments["colors"] = torch.rand(3, 3).T
    arguments["means"] = (torch.rand(3, 3) * 0.1).T

    assert_matches_float64(arguments, tolerance)


# Gradients and torch.compile.


def gradients_by_name(arguments, dtype):
    """Gradients by name; the loss sums all images with fixed random weights."""
    tensors = {
        name: one.detach().to(dtype).requires_grad_(name != "intrinsics")
        for name, one in arguments.items()
        if isinstance(one, torch.Tensor)
    }
    numbers = torch.Generator().manual_seed(1)
    leaves = {name: one for name, one in tensors.items() if one.requires_grad}
    with reference_for(dtype):
        outputs = rasterization(**{**arguments, **tensors})
        total = sum((one * torch.randn(one.shape, generator=numbers)).sum() for one in outputs[:5])
        outputs = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
    return dict(zip(leaves, outputs, strict=True))


@pytest.mark.parametrize(
    "arguments",
    [
        scene(cameras=2, colors=torch.randn(7, 4, 3) * 0.3, sh_degree=1, render_mode="RGB+ED",
              backgrounds=torch.rand(2, 3), watched=torch.zeros(2, 7, 2)),
        scene(count=4, channels=6, batch=(2,), width=9),
        scene(count=4, render_mode="D", opacities=torch.tensor([1.0, 0.0, 0.99999, 0.5])),
    ],
    ids=["harmonics", "batches", "depths"],
)  # fmt: skip
def test_gradients_of_the_kernels_agree_with_float64(arguments, tolerance):
    grads = gradients_by_name(arguments, torch.float32)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    expected = gradients_by_name(arguments, torch.float64)

    for name, true in expected.items():
        scale = true.abs().max().clamp_min(1.0)
        torch.testing.assert_close(
            grads[name].double() / scale, true / scale, **tolerance["float32-splat-gradient"],
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_invisible_surfel_has_zero_gradients(dtype):
    arguments = scene(count=3)
    arguments["means"] = arguments["means"] * 0
    arguments["quats"][0, 0], arguments["means"][1, 2] = math.nan, -9.0
    grads = gradients_by_name(arguments, dtype)
    names = ("means", "quats", "scales", "opacities", "colors")
    alone = gradients_by_name({**arguments, **{name: arguments[name][2:] for name in names}}, dtype)

    assert all(one.isfinite().all() for one in grads.values())
    assert not any(grads[name][:2].any() for name in names)
    assert grads["means"][2].any()
    for name in names:
        torch.testing.assert_close(grads[name][2:], alone[name])


def test_the_watched_centres_get_the_gradient_of_a_shift_in_the_image(monkeypatch):
    """For a disc that faces the camera, one pixel is depth / focal length in space."""
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    arguments = in_float64(scene(count=1, watched=torch.zeros(1, 1, 2)))
    arguments["quats"] = torch.tensor([[1.0, 0, 0, 0]]).double()
    arguments["means"] = torch.zeros(1, 3).double()
    grads = gradients_by_name(arguments, torch.float64)

    torch.testing.assert_close(grads["watched"][0, 0], grads["means"][0, :2] * 3 / torch.tensor([16.0, 17.0]))


def test_reference_passes_gradcheck(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    arguments = in_float64(scene(count=2, width=3, height=2, render_mode="RGB+D"))
    arguments["means"] = arguments["means"] * 0.3
    names = ("means", "quats", "scales", "opacities", "colors", "viewmats")
    leaves = [arguments[name].requires_grad_() for name in names]

    def drawn(*values):
        surface = rasterization(**{**arguments, **dict(zip(names, values, strict=True))})
        return surface.image, surface.alphas, surface.normals, surface.distortion

    assert torch.autograd.gradcheck(drawn, leaves, **tolerance["float64-gradcheck"])


def _images(means, quats, scales, opacities, colors, viewmats, intrinsics):
    surface = rasterization(means, quats, scales, opacities, colors, viewmats, intrinsics, 8, 5)
    return surface.image, surface.normals


def test_torch_compile_and_fake_tensors_see_one_operator():
    tensors = list(scene(count=3).values())[:7]
    compiled = torch.compile(_images, fullgraph=True, backend="aot_eager")
    with FakeTensorMode() as mode:
        fake = rasterization(*[mode.from_tensor(one) for one in tensors], 8, 5, render_mode="RGB+D")

    for one, two in zip(compiled(*tensors), _images(*tensors), strict=True):
        assert torch.equal(one, two)
    assert (fake.image.shape, fake.normals.shape, fake.median.shape) == ((1, 5, 8, 4), (1, 5, 8, 3), (1, 5, 8, 1))


@pytest.mark.usefixtures("reference_on_cpu")
def test_operator_passes_opcheck():
    tensors = [one[None] for one in list(scene(count=3).values())[:7]]
    colors = tensors.pop(4)
    settings = SurfelSettings(4, 3, 0.01, 1e10, 0.0, None, with_colors=True, with_depths=True)

    torch.library.opcheck(torch.ops.rocm3d_kernels.surfels.default, (*tensors, colors[None], None, None, *settings))
