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


def drawn(given=None, **changes):
    given = given or scene()
    watched = torch.zeros_like(given["means3D"], requires_grad=True)
    return package.GaussianRasterizer(settings(**changes))(means2D=watched, **given), watched


@pytest.mark.parametrize("lacking", [{"shs": None}, {"scales": None}, {"colors_precomp": torch.ones(COUNT, 3)}])
def test_neither_or_both_of_two_ways_are_refused(lacking):
    with pytest.raises(ValueError, match="exactly one of"):
        drawn(scene() | lacking)


def test_an_unknown_variant_is_refused(monkeypatch):
    monkeypatch.setenv(package.VARIANT, "poses")

    with pytest.raises(ValueError, match="set it to depth-alpha, or unset it"):
        drawn()


def test_what_is_returned_depends_on_the_fork(monkeypatch):
    (picture, radii), _ = drawn()
    (_, _, inverse), _ = drawn(antialiasing=False)
    monkeypatch.setenv(package.VARIANT, "depth-alpha")
    (_, _, depth, alpha), _ = drawn()

    assert picture.shape == (3, HEIGHT, WIDTH)
    assert radii.dtype == torch.int32
    assert inverse.shape == depth.shape == alpha.shape == (1, HEIGHT, WIDTH)
    # Depths are between two and four; both sums have the same weights.
    assert (depth >= alpha * 1.5).all()
    assert (inverse <= alpha / 1.5).all()


def test_the_picture_is_that_of_the_kernels_up_to_the_cap_of_alpha(tolerance):
    given = scene()
    given["opacities"] = given["opacities"] * 0.9  # below the original's largest alpha, which is smaller than ours
    picture, _radii = drawn(given)[0]
    focal = torch.tensor([[WIDTH / 1.2, 0, WIDTH / 2], [0, HEIGHT / 0.8, HEIGHT / 2], [0, 0, 1]])
    with by_reference():
        wanted = rasterization(
            given["means3D"].double(), given["rotations"].double(), given["scales"].double(),
            given["opacities"][:, 0].double(), given["shs"].double(), settings().viewmatrix.T.double()[None],
            focal.double()[None], WIDTH, HEIGHT, near_plane=package.NEAR, sh_degree=1,
            backgrounds=settings().bg.double()[None],
        )[0]  # fmt: skip

    torch.testing.assert_close(picture.permute(1, 2, 0).double(), wanted[0], **tolerance["float32-splat-forward"])


def test_the_watched_points_get_gradients_by_half_the_picture():
    (picture, _), watched = drawn()
    picture.sum().backward()
    given = scene()
    focal = torch.tensor([[WIDTH / 1.2, 0, WIDTH / 2], [0, HEIGHT / 0.8, HEIGHT / 2], [0, 0, 1]])
    image, _, meta = rasterization(
        given["means3D"].requires_grad_(), given["rotations"], given["scales"], given["opacities"][:, 0], given["shs"],
        settings().viewmatrix.T[None], focal[None], WIDTH, HEIGHT, near_plane=package.NEAR, sh_degree=1,
        backgrounds=settings().bg[None],
    )  # fmt: skip
    meta["means2d"].retain_grad()
    image.sum().backward()

    pixels = meta["means2d"].grad[0]
    torch.testing.assert_close(
        watched.grad[:, :2], pixels * torch.tensor([WIDTH / 2, HEIGHT / 2]), rtol=1e-4, atol=1e-5
    )
    assert not watched.grad[:, 2].any()


def test_what_lies_behind_the_camera_is_not_visible():
    rasterizer = package.GaussianRasterizer(settings())

    assert rasterizer.markVisible(torch.tensor([[0.0, 0, 0], [0, 0, -2.9], [0, 0, -5]])).tolist() == [
        True,
        False,
        False,
    ]


def test_precomputed_colours_and_covariances_are_taken():
    given = scene()
    axes = torch.diag_embed(given.pop("scales") ** 2)
    given.pop("rotations")
    upper = axes[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    given |= {"shs": None, "colors_precomp": torch.ones(COUNT, 3), "cov3D_precomp": upper}
    (picture, _), _ = drawn(given, bg=torch.zeros(3))

    assert picture.max() > 0.5
    torch.testing.assert_close(picture[0], picture[2])
