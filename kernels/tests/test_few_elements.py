"""No Gaussians, few points, tiny and huge pictures, through the import names that programs use."""

from __future__ import annotations

import math
import time

import pytest

from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization import package as diff_gaussians
from rocm3d_kernels.dropin.packages.fused_ssim.package import fused_ssim
from rocm3d_kernels.dropin.packages.gsplat import package as gsplat
from rocm3d_kernels.dropin.packages.simple_knn.native import distCUDA2
from rocm3d_kernels.touched import ImageGaussians, touched_pixels
from tests.bad_entries import (
    CAMERA,
    HEIGHT,
    WIDTH,
    boxes,
    diff_arguments,
    intrinsics,
    numbers,
    pixels,
    pose_arguments,
    projection,
    render_diff,
    rendering,
    view,
)
from tests.device import torch

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.fixture(params=["kernel", "reference"])
def implementation(request, monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", {"kernel": "triton"}.get(request.param, request.param))
    return request.param


def none_of(arguments, *names):
    """The arguments with zero rows of these tensors, as leaves."""
    return {
        **arguments,
        **{
            name: one[:0].clone().requires_grad_()
            for name, one in arguments.items()
            if name in names and one is not None
        },
    }


def check_gradients(image, arguments):
    """The gradient of each leaf has its shape."""
    leaves = {name: one for name, one in arguments.items() if isinstance(one, torch.Tensor) and one.requires_grad}
    grads = torch.autograd.grad(image.sum(), list(leaves.values()), materialize_grads=True, retain_graph=True)
    assert [one.shape for one in grads] == [one.shape for one in leaves.values()]
    if image.requires_grad:
        image.sum().backward()
        assert all(one.grad is None or one.grad.shape == one.shape for one in leaves.values())


COLORS = {"shs": lambda: numbers(3, 4, 3), "colors_precomp": lambda: numbers(3, 3)}
SHAPES = {
    "scales": lambda: {"scales": numbers(3, 3), "rotations": numbers(3, 4)},
    "covariances": lambda: {"cov3D_precomp": numbers(3, 6)},
}
GAUSSIANS = (
    "means3D", "means2D", "opacities", "shs", "colors_precomp", "scales", "rotations", "cov3D_precomp", "dc",
)  # fmt: skip


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("more", [{}, {"antialiasing": True}, {"antialiasing": False}], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("color", COLORS)
def test_without_gaussians_the_image_is_the_background(color, shape, more):
    arguments = none_of(diff_arguments(**{color: COLORS[color]()}, **SHAPES[shape](), **more), *GAUSSIANS)
    image, radii, *depth = render_diff(**arguments)

    torch.testing.assert_close(image, arguments["bg"][:, None, None].expand(3, HEIGHT, WIDTH))
    assert radii.shape == (0,)
    assert not any(one.any() for one in depth)
    check_gradients(image, arguments)


@pytest.mark.usefixtures("implementation")
def test_without_gaussians_an_empty_tensor_of_one_dimension_means_none():
    """As programs of the original pass them: torch.Tensor([])."""
    empty = torch.tensor([])
    passed = {"shs": empty, "colors_precomp": numbers(0, 3), "scales": empty, "rotations": empty}
    image = render_diff(
        **none_of(diff_arguments(**passed, cov3D_precomp=numbers(0, 6)), "means3D", "opacities", "means2D")
    )[0]

    assert image.shape == (3, HEIGHT, WIDTH)
    with pytest.raises(ValueError, match="exactly one of shs and colors_precomp"):
        render_diff(**none_of(diff_arguments(shs=empty, colors_precomp=empty), "means3D", "opacities", "means2D"))


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("variant", ["", "depth-alpha"])
def test_without_gaussians_every_variant_has_its_outputs(variant, monkeypatch):
    monkeypatch.setenv(diff_gaussians.VARIANT, variant)
    image, radii, depth, alpha, *touched = render_diff(**none_of(pose_arguments(), *GAUSSIANS))

    assert image.shape == (3, HEIGHT, WIDTH)
    assert depth.shape == alpha.shape == (1, HEIGHT, WIDTH)
    assert not alpha.any()
    assert [one.shape for one in (radii, *touched)] == [(0,), (0,)]


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("changes", [
    {"shs": None}, {"colors_precomp": "both"}, {"scales": None}, {"rotations": None}, {"cov3D_precomp": "both"},
    {"scales": None, "rotations": None},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("count", [0, 3])
def test_both_or_neither_are_refused(changes, count):
    both = {"colors_precomp": numbers(count, 3), "cov3D_precomp": numbers(count, 6)}
    arguments = diff_arguments(shs=numbers(3, 4, 3), scales=numbers(3, 3), rotations=numbers(3, 4))
    arguments = {name: one[:count] if name in GAUSSIANS else one for name, one in arguments.items()}
    arguments |= {name: both[name] if one == "both" else one for name, one in changes.items()}

    with pytest.raises(ValueError, match="exactly one of"):
        render_diff(**arguments)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("render", [gsplat.rasterization, gsplat.rasterization_2dgs])
@pytest.mark.parametrize("colors", [numbers(3, 3), numbers(3, 4, 3)], ids=["colours", "harmonics"])
@pytest.mark.parametrize("packed", [False, True])
def test_gsplat_without_gaussians_gives_the_background(render, colors, packed):
    degree = 1 if colors.dim() == 3 else None
    arguments = rendering(Ks=intrinsics(), colors=colors, sh_degree=degree)
    arguments = none_of(arguments, "means", "quats", "scales", "opacities", "colors")
    if render is gsplat.rasterization:
        arguments["packed"] = packed
    image, alphas, *_ = render(**arguments)

    torch.testing.assert_close(image, arguments["backgrounds"][:, None, None].expand(1, HEIGHT, WIDTH, 3))
    assert not alphas.any()
    check_gradients(image, arguments)


@pytest.mark.usefixtures("implementation")
def test_single_steps_without_gaussians():
    arguments = none_of(projection(), "means", "quats", "scales", "opacities")
    radii, means2d, depths, conics, _ = gsplat.fully_fused_projection(**arguments)
    counts, keys, rows = gsplat.isect_tiles(means2d, radii, depths, 4, 3, 2)
    offsets = gsplat.isect_offset_encode(keys, 1, 3, 2)

    assert radii.shape == means2d.shape == (1, 0, 2)
    assert conics.shape == (1, 0, 3)
    assert counts.shape == (1, 0)
    assert len(keys) == len(rows) == 0
    assert not offsets.any()
    assert gsplat.spherical_harmonics(1, numbers(0, 3), numbers(0, 4, 3)).shape == (0, 3)
    assert gsplat.quat_scale_to_covar_preci(numbers(0, 4), numbers(0, 3))[0].shape == (0, 3, 3)


def test_no_pairs_are_drawn_as_the_background():
    arguments = pixels()
    for name in ("means2d", "conics", "colors", "opacities"):
        arguments[name] = arguments[name][:, :0].clone().requires_grad_()
    arguments |= {"flatten_ids": arguments["flatten_ids"][:0], "isect_offsets": torch.zeros(1, 2, 3, dtype=torch.int32)}
    image, alphas = gsplat.rasterize_to_pixels(**arguments)

    torch.testing.assert_close(image, arguments["backgrounds"][:, None, None].expand_as(image))
    assert not alphas.any()
    check_gradients(image, arguments)


def test_no_positions_are_marked():
    settings = diff_gaussians.GaussianRasterizationSettings(
        HEIGHT, WIDTH, 0.6, 0.4, numbers(3), 1.0, view().T, view().T, 0, numbers(3), prefiltered=False
    )

    assert diff_gaussians.GaussianRasterizer(settings).markVisible(numbers(0, 3)).shape == (0,)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_distances_of_few_points(count):
    """The mean over as many neighbours as there are; none have no distance."""
    points = torch.arange(3.0 * count).view(count, 3).requires_grad_()
    distances = distCUDA2(points)

    expected = {0: [], 1: [math.nan], 2: [27.0, 27.0], 3: [67.5, 27.0, 67.5], 4: [126.0, 54.0, 54.0, 126.0]}
    torch.testing.assert_close(distances, torch.tensor(expected[count]), equal_nan=True)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("size", [(1, 1), (1, 40), (40, 1), (2, 3), (10, 11)])
def test_similarity_of_tiny_pictures(size):
    image = numbers(1, 1, *size).requires_grad_()
    value = fused_ssim(image, image.detach())
    value.backward()

    assert value.item() == pytest.approx(1.0, abs=1e-5)
    assert image.grad.shape == image.shape
    with pytest.raises(ValueError, match="padding valid needs 11 by 11 pixels"):
        fused_ssim(image, image, padding="valid")


def test_smallest_picture_without_padding():
    image = numbers(1, 1, 11, 11)

    assert fused_ssim(image, image, padding="valid").item() == pytest.approx(1.0, abs=1e-5)


HUGE = [(10**7, 10**7), (2**23, 2**23), (2**21, 2**21), (2**31, 1), (10**30, 10**30), (2**23, 2**17)]


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(("width", "height"), HUGE)
def test_huge_pictures_are_refused_at_once(width, height):
    sizes = {"image_width": width, "image_height": height}
    tensors = {"shs": numbers(3, 4, 3), "scales": numbers(3, 3), "rotations": numbers(3, 4)}
    projected = ImageGaussians(
        numbers(1, 3, 2), numbers(1, 3, 3), numbers(1, 3), numbers(1, 3), torch.ones(1, 3, 2).int()
    )
    start = time.perf_counter()
    for call in (
        lambda: render_diff(**{**diff_arguments(**tensors), **sizes}),
        lambda: render_diff(**{**diff_arguments(colors_precomp=numbers(3, 3), cov3D_precomp=numbers(3, 6)), **sizes}),
        lambda: gsplat.rasterization(**{**rendering(Ks=intrinsics()), "width": width, "height": height}),
        lambda: gsplat.rasterization_2dgs(**{**rendering(Ks=intrinsics()), "width": width, "height": height}),
        lambda: touched_pixels(projected, width, height),
        lambda: gsplat.rasterize_to_pixels(**{**pixels(), **sizes}),
    ):
        with pytest.raises(ValueError, match=r"width|isect_offsets") as refusal:
            call()
        assert "\n" not in str(refusal.value)

    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("name", ["tanfovx", "tanfovy"])
@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1.0, math.nan, math.inf])
def test_field_of_view_that_is_no_angle_is_refused(name, value):
    tensors = {"shs": numbers(3, 4, 3), "scales": numbers(3, 3), "rotations": numbers(3, 4)}

    with pytest.raises(ValueError, match=f"{name} is "):
        render_diff(**{**diff_arguments(**tensors), name: value})


def test_more_images_than_a_launch_has_rows_are_refused():
    arguments = rendering(Ks=intrinsics().expand(70_000, 3, 3), viewmats=view().expand(70_000, 4, 4), backgrounds=None)

    for render in (gsplat.rasterization, gsplat.rasterization_2dgs):
        with pytest.raises(ValueError, match="holds 70000 cameras"):
            render(**arguments)
        with pytest.raises(ValueError, match="holds 0 cameras"):
            render(**{**arguments, "Ks": numbers(0, 3, 3), "viewmats": numbers(0, 4, 4)})


def test_more_gaussians_than_indices_are_refused():
    count = 2**31
    arguments = rendering(Ks=intrinsics()) | {
        "means": numbers(1, 3).expand(count, 3), "quats": numbers(1, 4).expand(count, 4),
        "scales": numbers(1, 3).expand(count, 3), "opacities": numbers(1).expand(count),
        "colors": numbers(1, 3).expand(count, 3),
    }  # fmt: skip

    with pytest.raises(ValueError, match="2147483648 Gaussians in all images"):
        gsplat.rasterization(**arguments)
    with pytest.raises(ValueError, match="means3D are 2147483648 Gaussians"):
        diff_gaussians.GaussianRasterizer(None)(arguments["means"], None, arguments["opacities"])
    with pytest.raises(ValueError, match="2147483648 points are too many"):
        distCUDA2(arguments["means"])


def test_too_many_tiles_for_sort_keys_are_refused():
    arguments = boxes() | {"tile_width": 2**16, "tile_height": 2**16}

    with pytest.raises(ValueError, match="too many tiles for a sort key"):
        gsplat.isect_tiles(**arguments)
    with pytest.raises(ValueError, match="too many tiles for a sort key"):
        gsplat.isect_offset_encode(torch.zeros(3, dtype=torch.int64), 2**20, 2**6, 2**6)


def test_negative_depths_do_not_change_the_tile():
    arguments = boxes()
    expected = gsplat.isect_tiles(**arguments)[1] >> 32
    for value in (-1.0, math.nan, -math.nan):
        keys = gsplat.isect_tiles(**{**arguments, "depths": torch.full_like(arguments["depths"], value)})[1]
        assert torch.equal(keys >> 32, expected)


def test_backgrounds_of_any_strides_are_read_right():
    arguments = rendering(Ks=intrinsics())
    strided = torch.stack([arguments["backgrounds"], torch.ones(1, 3)], dim=-1)[..., 0]

    assert strided.stride(-1) == 2
    torch.testing.assert_close(
        gsplat.rasterization(**arguments | {"backgrounds": strided})[0], gsplat.rasterization(**arguments)[0]
    )
    assert set(CAMERA) <= set(arguments)
