from __future__ import annotations

import math

import pytest
from tests.device import by_reference, reference_for, torch
from torch._subclasses.fake_tensor import FakeTensorMode

import rocm3d_kernels
from rocm3d_kernels.surfels import rasterization, reference
from rocm3d_kernels.surfels.operator import Settings

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


def exact(arguments):
    return {name: one.double() if isinstance(one, torch.Tensor) else one for name, one in arguments.items()}


def agree(arguments, tolerance):
    """Kernels in float32 against the reference in float64."""
    found = rasterization(**arguments)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    with by_reference():
        wanted = rasterization(**exact(arguments))
    assert rocm3d_kernels.last_dispatch().implementation == "reference"
    for name, one, true in zip(found._fields[:5], found, wanted, strict=False):
        scale = max(true.abs().max().item(), 1.0)
        torch.testing.assert_close(
            one.double() / scale, true / scale, **tolerance["float32-splat-forward"],
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip
    assert torch.equal(found.meta["radii"], wanted.meta["radii"])
    return found


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
    given = [arguments[name] for name in list(arguments)[:7]]
    compiled = torch.compile(_pictures, fullgraph=True, backend="aot_eager")

    with pytest.raises(Exception, match=r"surfels: gradients are not supported under torch\.compile"):
        compiled(given[0].requires_grad_(), *given[1:])


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
    agree(arguments, tolerance)


def test_a_disc_before_the_camera_is_a_gaussian_of_its_plane(monkeypatch):
    """At depth 2 with a focal length of 8, one unit of the plane is four pixels."""
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    one = torch.eye(3, dtype=torch.float64)
    lens = torch.tensor([[[8.0, 0, 10], [0, 8, 6], [0, 0, 1]]], dtype=torch.float64)
    found = rasterization(
        torch.tensor([[0.0, 0, 2]]).double(), torch.tensor([[2.0, 0, 0, 0]]).double(),
        torch.tensor([[0.5, 1.0, 9.0]]).double(), torch.tensor([0.8]).double(), one[:1], torch.eye(4).double()[None],
        lens, WIDTH, HEIGHT,
    )  # fmt: skip
    y, x = torch.meshgrid(torch.arange(HEIGHT) + 0.5, torch.arange(WIDTH) + 0.5, indexing="ij")
    power = ((x - 10) / 4 / 0.5) ** 2 + ((y - 6) / 4) ** 2
    wanted = 0.8 * torch.exp(-0.5 * power.double())
    wanted = torch.where(wanted >= 1 / 255, wanted, 0.0)

    torch.testing.assert_close(found.alphas[0, ..., 0], wanted)
    torch.testing.assert_close(found.normals[0], wanted[..., None] * torch.tensor([0.0, 0, -1]).double())
    assert found.meta["means2d"][0, 0].tolist() == [10, 6]
    assert found.meta["radii"][0, 0].tolist() == [math.ceil(3.33 * 2), math.ceil(3.33 * 4)]


def test_the_box_is_around_the_circle_of_one_deviation():
    given = [one[None] for one in list(exact(scene()).values())[:7]]
    records, _ = reference.project(*given[:4], given[5], given[6], (WIDTH, HEIGHT), 0.01, 1e10, 0.0)
    turn = torch.linspace(0, 2 * math.pi, 20001, dtype=torch.float64)
    circle = torch.stack([turn.cos(), turn.sin(), torch.ones_like(turn)])
    points = records[0, :, :9].unflatten(-1, (3, 3)) @ circle
    places = points[:, :2] / points[:, 2:]
    low, high = places.amin(dim=-1), places.amax(dim=-1)
    middle, squares, _ = reference._box(records[0, :, :9].unflatten(-1, (3, 3)))

    torch.testing.assert_close(middle, (low + high) / 2, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(squares.sqrt(), (high - low) / 2, rtol=1e-5, atol=1e-6)


def test_distortion_is_the_sum_over_pairs_and_the_median_the_depth_of_half_the_light(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    depths, alphas = torch.tensor([4.0, 1.0, 2.0]), torch.tensor([0.9, 0.3, 0.4])
    found = rasterization(
        torch.stack([0 * depths, 0 * depths, depths], dim=-1), torch.eye(4)[:1].expand(3, 4), torch.ones(3, 3),
        alphas, torch.ones(3, 1), torch.eye(4)[None], torch.tensor([[[1.0, 0, 0.5], [0, 1, 0.5], [0, 0, 1]]]), 1, 1,
    )  # fmt: skip
    weights = torch.tensor([0.9 * 0.7 * 0.6, 0.3, 0.7 * 0.4])
    pairs = weights[:, None] * weights * (depths[:, None] - depths).abs()

    assert found.distortion.item() == pytest.approx(pairs.sum().item(), rel=1e-5)
    # T is 0.7 at the second surfel, 0.42 at the third.
    assert found.median.item() == 2.0
    assert found.alphas.item() == pytest.approx(weights.sum().item())


@pytest.mark.parametrize("count", [0, 1])
def test_none_and_all_behind_are_the_background(count):
    arguments = scene(count=count, backgrounds=torch.tensor([[0.1, 0.2, 0.3]]))
    arguments["means"] = arguments["means"] - 9.0
    found = rasterization(**arguments)

    assert torch.equal(found.image, torch.tensor([0.1, 0.2, 0.3]).expand(1, HEIGHT, WIDTH, 3))
    assert not any(one.any() for one in found[1:5])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["means", "quats", "scales", "opacities"])
def test_what_is_not_finite_is_not_seen(name, bad):
    # A small image is enough.
    arguments = scene(count=2, width=6, height=5)
    arguments["means"] = arguments["means"] * 0
    arguments[name].view(2, -1)[0, 0] = bad
    found = rasterization(**arguments)

    assert not found.meta["radii"][0, 0].any()
    assert found.meta["radii"][0, 1].all()
    assert all(one.isfinite().all() for one in found[:5])


def test_a_disc_from_the_side_and_a_huge_one_are_drawn(tolerance):
    arguments = scene(count=2)
    arguments["means"] = torch.tensor([[0.0, 0, 0], [0.1, 0, 1]])
    arguments["opacities"] = torch.tensor([0.9, 0.5])
    # One rotated by 90 degrees about the vertical axis, one wider than the image.
    arguments["quats"] = torch.tensor([[1.0, 0, 1, 0], [1.0, 0, 0, 0]])
    arguments["scales"] = torch.tensor([[0.5, 0.5, 1], [1e4, 1e4, 1]])
    found = agree(arguments, tolerance)

    torch.testing.assert_close(found.alphas[0, 0], torch.full((WIDTH, 1), 0.5))
    # The disc is between two columns of pixels, half a pixel from each.
    assert found.alphas[0, 6, 9].item() == pytest.approx(1 - 0.5 * (1 - 0.9 * math.exp(-0.5)), rel=1e-3)


def test_strides_of_any_kind_and_one_pixel(tolerance):
    arguments = scene(count=3, width=1, height=1)
    arguments["colors"] = torch.rand(3, 3).T
    arguments["means"] = (torch.rand(3, 3) * 0.1).T

    agree(arguments, tolerance)


# Gradients and torch.compile.


def graded(arguments, dtype):
    """Gradients by name; the loss sums all images with fixed random weights."""
    learning = {
        name: one.detach().to(dtype).requires_grad_(name != "intrinsics")
        for name, one in arguments.items()
        if isinstance(one, torch.Tensor)
    }
    numbers = torch.Generator().manual_seed(1)
    leaves = {name: one for name, one in learning.items() if one.requires_grad}
    with reference_for(dtype):
        found = rasterization(**{**arguments, **learning})
        total = sum((one * torch.randn(one.shape, generator=numbers)).sum() for one in found[:5])
        found = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


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
    found = graded(arguments, torch.float32)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    wanted = graded(arguments, torch.float64)

    for name, true in wanted.items():
        scale = true.abs().max().clamp_min(1.0)
        torch.testing.assert_close(
            found[name].double() / scale, true / scale, **tolerance["float32-splat-gradient"],
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_not_seen_has_gradients_of_zero_and_changes_no_other(dtype):
    arguments = scene(count=3)
    arguments["means"] = arguments["means"] * 0
    arguments["quats"][0, 0], arguments["means"][1, 2] = math.nan, -9.0
    found = graded(arguments, dtype)
    names = ("means", "quats", "scales", "opacities", "colors")
    alone = graded({**arguments, **{name: arguments[name][2:] for name in names}}, dtype)

    assert all(one.isfinite().all() for one in found.values())
    assert not any(found[name][:2].any() for name in names)
    assert found["means"][2].any()
    for name in names:
        torch.testing.assert_close(found[name][2:], alone[name])


def test_the_watched_centres_get_the_gradient_of_a_shift_in_the_image(monkeypatch):
    """For a disc that faces the camera, one pixel is depth / focal length in space."""
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    arguments = exact(scene(count=1, watched=torch.zeros(1, 1, 2)))
    arguments["quats"] = torch.tensor([[1.0, 0, 0, 0]]).double()
    arguments["means"] = torch.zeros(1, 3).double()
    found = graded(arguments, torch.float64)

    torch.testing.assert_close(found["watched"][0, 0], found["means"][0, :2] * 3 / torch.tensor([16.0, 17.0]))


def test_the_reference_is_differentiated_rightly(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    arguments = exact(scene(count=2, width=3, height=2, render_mode="RGB+D"))
    arguments["means"] = arguments["means"] * 0.3
    names = ("means", "quats", "scales", "opacities", "colors", "viewmats")
    leaves = [arguments[name].requires_grad_() for name in names]

    def drawn(*given):
        found = rasterization(**{**arguments, **dict(zip(names, given, strict=True))})
        return found.image, found.alphas, found.normals, found.distortion

    assert torch.autograd.gradcheck(drawn, leaves, **tolerance["float64-gradcheck"])


def _pictures(means, quats, scales, opacities, colors, viewmats, intrinsics):
    found = rasterization(means, quats, scales, opacities, colors, viewmats, intrinsics, 8, 5)
    return found.image, found.normals


def test_torch_compile_and_fake_tensors_see_one_operator():
    given = list(scene(count=3).values())[:7]
    compiled = torch.compile(_pictures, fullgraph=True, backend="aot_eager")
    with FakeTensorMode() as mode:
        fake = rasterization(*[mode.from_tensor(one) for one in given], 8, 5, render_mode="RGB+D")

    for one, two in zip(compiled(*given), _pictures(*given), strict=True):
        assert torch.equal(one, two)
    assert (fake.image.shape, fake.normals.shape, fake.median.shape) == ((1, 5, 8, 4), (1, 5, 8, 3), (1, 5, 8, 1))


@pytest.mark.usefixtures("reference_on_cpu")
def test_the_operator_keeps_the_rules_of_torch_library():
    given = [one[None] for one in list(scene(count=3).values())[:7]]
    colors = given.pop(4)
    settings = Settings(4, 3, 0.01, 1e10, 0.0, None, with_colors=True, with_depths=True)

    torch.library.opcheck(torch.ops.rocm3d_kernels.surfels.default, (*given, colors[None], None, None, *settings))
