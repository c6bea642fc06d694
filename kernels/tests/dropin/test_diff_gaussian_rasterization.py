from __future__ import annotations

import pytest
from tests.device import by_reference, torch

from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization import package
from rocm3d_kernels.gaussian import rasterization

WIDTH, HEIGHT, COUNT = 18, 11, 10


def settings(**changes):
    view = torch.eye(4)
    view[2, 3] = 3.0
    values = {
        "image_height": HEIGHT, "image_width": WIDTH, "tanfovx": 0.6, "tanfovy": 0.4, "scale_modifier": 1.0,
        "bg": torch.tensor([0.1, 0.2, 0.3]), "viewmatrix": view.T, "projmatrix": view.T, "sh_degree": 1,
        "campos": torch.tensor([0.0, 0.0, -3.0]), "prefiltered": False, "debug": False,
    }  # fmt: skip
    return package.GaussianRasterizationSettings(**(values | changes))


def scene(count=COUNT):
    random = torch.Generator().manual_seed(3)
    return {
        "means3D": torch.randn(count, 3, generator=random) * 0.4,
        "opacities": torch.rand(count, 1, generator=random) * 0.8 + 0.1,
        "scales": torch.rand(count, 3, generator=random) * 0.2 + 0.02,
        "rotations": torch.randn(count, 4, generator=random),
        "shs": torch.randn(count, 4, 3, generator=random) * 0.3,
    }


def render(arguments=None, **changes):
    arguments = arguments or scene()
    means2d = torch.zeros_like(arguments["means3D"], requires_grad=True)
    return package.GaussianRasterizer(settings(**changes))(means2D=means2d, **arguments), means2d


@pytest.mark.parametrize("changes", [{"shs": None}, {"scales": None}, {"colors_precomp": torch.ones(COUNT, 3)}])
def test_missing_or_conflicting_arguments_are_rejected(changes):
    with pytest.raises(ValueError, match="exactly one of"):
        render(scene() | changes)


def test_unknown_variant_is_rejected(monkeypatch):
    monkeypatch.setenv(package.VARIANT, "poses")

    with pytest.raises(ValueError, match="set it to depth-alpha, or unset it"):
        render()


def test_outputs_depend_on_the_variant(monkeypatch):
    (image, radii), _ = render()
    (_, _, inverse), _ = render(antialiasing=False)
    monkeypatch.setenv(package.VARIANT, "depth-alpha")
    (_, _, depth, alpha), _ = render()

    assert image.shape == (3, HEIGHT, WIDTH)
    assert radii.dtype == torch.int32
    assert inverse.shape == depth.shape == alpha.shape == (1, HEIGHT, WIDTH)
    # Depths are between two and four; both sums have the same weights.
    assert (depth >= alpha * 1.5).all()
    assert (inverse <= alpha / 1.5).all()


def test_image_equals_the_reference_below_the_alpha_limit(tolerance):
    arguments = scene()
    arguments["opacities"] = (
        arguments["opacities"] * 0.9
    )  # below the original's largest alpha, which is smaller than ours
    image, _radii = render(arguments)[0]
    focal = torch.tensor([[WIDTH / 1.2, 0, WIDTH / 2], [0, HEIGHT / 0.8, HEIGHT / 2], [0, 0, 1]])
    with by_reference():
        expected = rasterization(
            arguments["means3D"].double(), arguments["rotations"].double(), arguments["scales"].double(),
            arguments["opacities"][:, 0].double(), arguments["shs"].double(), settings().viewmatrix.T.double()[None],
            focal.double()[None], WIDTH, HEIGHT, near_plane=package.NEAR, sh_degree=1,
            backgrounds=settings().bg.double()[None],
        )[0]  # fmt: skip

    torch.testing.assert_close(image.permute(1, 2, 0).double(), expected[0], **tolerance["float32-splat-forward"])


def test_means2d_gradients_are_in_units_of_half_the_image():
    (rgb, _), means2d = render()
    rgb.sum().backward()
    args = scene()
    focal = torch.tensor([[WIDTH / 1.2, 0, WIDTH / 2], [0, HEIGHT / 0.8, HEIGHT / 2], [0, 0, 1]])
    image, _, meta = rasterization(
        args["means3D"].requires_grad_(), args["rotations"], args["scales"], args["opacities"][:, 0], args["shs"],
        settings().viewmatrix.T[None], focal[None], WIDTH, HEIGHT, near_plane=package.NEAR, sh_degree=1,
        backgrounds=settings().bg[None],
    )  # fmt: skip
    meta["means2d"].retain_grad()
    image.sum().backward()

    pixels = meta["means2d"].grad[0]
    torch.testing.assert_close(
        means2d.grad[:, :2], pixels * torch.tensor([WIDTH / 2, HEIGHT / 2]), rtol=1e-4, atol=1e-5
    )
    assert not means2d.grad[:, 2].any()


def test_points_behind_the_camera_are_not_visible():
    rasterizer = package.GaussianRasterizer(settings())

    assert rasterizer.markVisible(torch.tensor([[0.0, 0, 0], [0, 0, -2.9], [0, 0, -5]])).tolist() == [
        True,
        False,
        False,
    ]


def test_precomputed_colours_and_covariances_are_supported():
    arguments = scene()
    axes = torch.diag_embed(arguments.pop("scales") ** 2)
    arguments.pop("rotations")
    upper = axes[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    arguments |= {"shs": None, "colors_precomp": torch.ones(COUNT, 3), "cov3D_precomp": upper}
    (image, _), _ = render(arguments, bg=torch.zeros(3))

    assert image.max() > 0.5
    torch.testing.assert_close(image[0], image[2])
