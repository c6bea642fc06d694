"""The fork with camera poses, and the optimizer of the accelerated branch."""

from __future__ import annotations

import pytest
from tests.device import reference_for, torch

from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization import package, pose

WIDTH, HEIGHT, COUNT = 14, 9, 5
FX, FY, CX, CY = 11.0, 12.0, 6.0, 5.5

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


def raw():
    """The transposed projection matrix of these intrinsics."""
    matrix = torch.zeros(4, 4)
    matrix[0, 0], matrix[1, 1] = 2 * FX / WIDTH, 2 * FY / HEIGHT
    matrix[0, 2], matrix[1, 2] = 2 * CX / WIDTH - 1, 2 * CY / HEIGHT - 1
    matrix[2, 2], matrix[2, 3], matrix[3, 2] = 1.0, -0.01, 1.0
    return matrix.T


def view():
    turn = torch.linalg.matrix_exp(torch.tensor([[0.0, -0.1, 0.2], [0.1, 0, 0.05], [-0.2, -0.05, 0]]))
    matrix = torch.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn, torch.tensor([0.1, -0.05, 3.0])
    return matrix


def settings(dtype, **changes):
    values = {
        "image_height": HEIGHT, "image_width": WIDTH, "tanfovx": WIDTH / 2 / FX, "tanfovy": HEIGHT / 2 / FY,
        "scale_modifier": 1.0, "bg": torch.tensor([0.1, 0.2, 0.3], dtype=dtype), "viewmatrix": view().T.to(dtype),
        "projmatrix": view().T @ raw(), "projmatrix_raw": raw(), "sh_degree": 1, "campos": torch.zeros(3),
        "prefiltered": False, "debug": False,
    }  # fmt: skip
    return package.GaussianRasterizationSettings(**(values | changes))


def scene(dtype):
    random = torch.Generator().manual_seed(3)
    given = {
        "means3D": torch.randn(COUNT, 3, generator=random) * 0.4,
        "opacities": torch.rand(COUNT, 1, generator=random) * 0.6 + 0.3,
        "scales": torch.rand(COUNT, 3, generator=random) * 0.3 + 0.1,
        "rotations": torch.randn(COUNT, 4, generator=random),
        "shs": torch.randn(COUNT, 4, 3, generator=random) * 0.3,
    }
    return {name: one.to(dtype) for name, one in given.items()}


def drawn(dtype, theta=None, rho=None, **changes):
    given = scene(dtype)
    rasterizer = package.GaussianRasterizer(settings(dtype, **changes))
    with reference_for(dtype):
        return rasterizer(means2D=torch.zeros_like(given["means3D"]), theta=theta, rho=rho, **given)


def weighed(picture, depth, alpha):
    """A scalar from all images, with random weights."""
    numbers = torch.Generator().manual_seed(5)
    return sum((one * torch.randn(one.shape, generator=numbers)).sum() for one in (picture, depth, alpha))


def motions(dtype):
    return [torch.zeros(3, dtype=dtype, requires_grad=True) for _ in range(2)]


def truth():
    """A function of theta and rho by the matrix exponential of the motion, and its leaves."""

    def after(theta, rho):
        x, y, z = theta.unbind()
        none = torch.zeros_like(x)
        rows = torch.stack([none, -z, y, rho[0], z, none, -x, rho[1], -y, x, none, rho[2], *(none,) * 4])
        moved = torch.linalg.matrix_exp(rows.view(4, 4)) @ view().double()
        picture, _, depth, alpha, _ = drawn(torch.float64, viewmatrix=moved.T)
        return weighed(picture, depth, alpha)

    return after, motions(torch.float64)


@pytest.mark.parametrize("wrong", [{"theta": torch.zeros(4)}, {"rho": torch.zeros(2, 3)}])
def test_motions_are_of_three_numbers(wrong):
    with pytest.raises(ValueError, match="must have 3 elements"):
        drawn(torch.float32, **wrong)


def test_pictures_depth_alpha_and_touched_pixels_are_returned():
    picture, radii, depth, alpha, touched = drawn(torch.float64)

    assert picture.shape == (3, HEIGHT, WIDTH)
    assert depth.shape == alpha.shape == (1, HEIGHT, WIDTH)
    assert radii.shape == touched.shape == (COUNT,)
    assert touched.dtype == torch.int32
    assert 0 < touched.max() <= WIDTH * HEIGHT
    assert not touched[radii == 0].any()


def test_the_camera_is_that_of_the_projection_matrix():
    found = pose.intrinsics(raw(), WIDTH, HEIGHT)

    torch.testing.assert_close(found, torch.tensor([[FX, 0, CX], [0, FY, CY], [0, 0, 1]]))


def test_motions_have_no_value_only_gradients():
    picture = drawn(torch.float64)[0]
    moved = drawn(torch.float64, torch.ones(1, 3), torch.ones(3).double())[0]

    assert torch.equal(picture, moved)


def test_gradients_of_the_pose_are_those_of_a_small_motion(tolerance):
    after, leaves = truth()
    assert torch.autograd.gradcheck(after, leaves, **tolerance["float64-gradcheck"])
    wanted = torch.autograd.grad(after(*leaves), leaves)
    theta, rho = motions(torch.float64)
    picture, _, depth, alpha, _ = drawn(torch.float64, theta, rho)

    torch.testing.assert_close(torch.autograd.grad(weighed(picture, depth, alpha), (theta, rho)), wanted)


def test_the_kernels_find_the_same_gradients_of_the_pose(tolerance):
    after, leaves = truth()
    wanted = torch.autograd.grad(after(*leaves), leaves)
    theta, rho = motions(torch.float32)
    picture, _, depth, alpha, touched = drawn(torch.float32, theta, rho)
    found = torch.autograd.grad(weighed(picture, depth, alpha), (theta, rho))

    for one, true in zip(found, wanted, strict=True):
        scale = true.abs().max()
        torch.testing.assert_close(one.double() / scale, true / scale, **tolerance["float32-splat-gradient"])
    assert (touched - drawn(torch.float64)[4]).abs().max() <= 1


def test_coefficients_of_degree_0_may_come_by_themselves(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    given = scene(torch.float64)
    whole = given.pop("shs")
    rasterizer = package.GaussianRasterizer(settings(torch.float64, projmatrix_raw=None, antialiasing=True))
    flat = package.GaussianRasterizer(settings(torch.float64, projmatrix_raw=None, antialiasing=True, sh_degree=0))
    watched = torch.zeros_like(given["means3D"])
    picture, _, inverse = rasterizer(means2D=watched, shs=whole, **given)
    parts = rasterizer(means2D=watched, dc=whole[:, :1], shs=whole[:, 1:], **given)
    first = flat(means2D=watched, dc=whole[:, :1], shs=whole[:, 1:1], **given)[0]

    assert torch.equal(picture, parts[0])
    assert torch.equal(inverse, parts[2])
    assert torch.equal(first, flat(means2D=watched, shs=whole, **given)[0])


def test_a_step_of_other_gaussians_than_were_seen_is_refused():
    optimizer = package.SparseGaussianAdam([torch.ones(4, requires_grad=True)], lr=0.1, eps=1e-15)

    with pytest.raises(ValueError, match="visibility has 3 elements, but N is 4"):
        optimizer.step(torch.ones(3), 4)


@pytest.mark.usefixtures("reference_on_cpu")
def test_only_what_was_seen_is_optimized():
    value = torch.ones(3, 4, 3, requires_grad=True)
    optimizer = package.SparseGaussianAdam([{"params": [value], "lr": 0.1, "name": "f_rest"}], lr=0.0, eps=1e-15)
    value.grad = torch.ones_like(value)
    optimizer.step(torch.tensor([True, False, True]), 3)

    # After the first step with a gradient of one, m = 0.1 and v = 0.001.
    assert value[0, 0, 0].item() == pytest.approx(1 - 0.1 * 0.1 / 0.001**0.5, rel=1e-5)
    assert (value[1] == 1).all()
