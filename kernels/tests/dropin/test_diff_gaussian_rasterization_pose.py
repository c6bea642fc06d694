"""The fork with camera poses, and the optimizer of the accelerated branch."""

from __future__ import annotations

import pytest
from tests.device import reference_for, torch

from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization import package, pose

WIDTH, HEIGHT, COUNT = 14, 9, 5
FX, FY, CX, CY = 11.0, 12.0, 6.0, 5.5

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


def raw_matrix():
    """The transposed projection matrix of these intrinsics."""
    matrix = torch.zeros(4, 4)
    matrix[0, 0], matrix[1, 1] = 2 * FX / WIDTH, 2 * FY / HEIGHT
    matrix[0, 2], matrix[1, 2] = 2 * CX / WIDTH - 1, 2 * CY / HEIGHT - 1
    matrix[2, 2], matrix[2, 3], matrix[3, 2] = 1.0, -0.01, 1.0
    return matrix.T


def view():
    rotation = torch.linalg.matrix_exp(torch.tensor([[0.0, -0.1, 0.2], [0.1, 0, 0.05], [-0.2, -0.05, 0]]))
    matrix = torch.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, torch.tensor([0.1, -0.05, 3.0])
    return matrix


def settings(dtype, **changes):
    values = {
        "image_height": HEIGHT, "image_width": WIDTH, "tanfovx": WIDTH / 2 / FX, "tanfovy": HEIGHT / 2 / FY,
        "scale_modifier": 1.0, "bg": torch.tensor([0.1, 0.2, 0.3], dtype=dtype), "viewmatrix": view().T.to(dtype),
        "projmatrix": view().T @ raw_matrix(), "projmatrix_raw": raw_matrix(), "sh_degree": 1, "campos": torch.zeros(3),
        "prefiltered": False, "debug": False,
    }  # fmt: skip
    return package.GaussianRasterizationSettings(**(values | changes))


def scene(dtype):
    random = torch.Generator().manual_seed(3)
    tensors = {
        "means3D": torch.randn(COUNT, 3, generator=random) * 0.4,
        "opacities": torch.rand(COUNT, 1, generator=random) * 0.6 + 0.3,
        "scales": torch.rand(COUNT, 3, generator=random) * 0.3 + 0.1,
        "rotations": torch.randn(COUNT, 4, generator=random),
        "shs": torch.randn(COUNT, 4, 3, generator=random) * 0.3,
    }
    return {name: one.to(dtype) for name, one in tensors.items()}


def render(dtype, theta=None, rho=None, **changes):
    arguments = scene(dtype)
    rasterizer = package.GaussianRasterizer(settings(dtype, **changes))
    with reference_for(dtype):
        return rasterizer(means2D=torch.zeros_like(arguments["means3D"]), theta=theta, rho=rho, **arguments)


def weighted_sum(image, depth, alpha):
    """A scalar from all images, with random weights."""
    generator = torch.Generator().manual_seed(5)
    return sum((one * torch.randn(one.shape, generator=generator)).sum() for one in (image, depth, alpha))


def zero_motions(dtype):
    return [torch.zeros(3, dtype=dtype, requires_grad=True) for _ in range(2)]


def exact_loss():
    """A function of theta and rho by the matrix exponential of the motion, and its leaves."""

    def after(theta, rho):
        x, y, z = theta.unbind()
        none = torch.zeros_like(x)
        rows = torch.stack([none, -z, y, rho[0], z, none, -x, rho[1], -y, x, none, rho[2], *(none,) * 4])
        moved = torch.linalg.matrix_exp(rows.view(4, 4)) @ view().double()
        picture, _, depth, alpha, _ = render(torch.float64, viewmatrix=moved.T)
        return weighted_sum(picture, depth, alpha)

    return after, zero_motions(torch.float64)


@pytest.mark.parametrize("wrong", [{"theta": torch.zeros(4)}, {"rho": torch.zeros(2, 3)}])
def test_motions_must_have_three_elements(wrong):
    with pytest.raises(ValueError, match="must have 3 elements"):
        render(torch.float32, **wrong)


def test_image_depth_alpha_and_touched_pixels_are_returned():
    image, radii, depth, alpha, touched = render(torch.float64)

    assert image.shape == (3, HEIGHT, WIDTH)
    assert depth.shape == alpha.shape == (1, HEIGHT, WIDTH)
    assert radii.shape == touched.shape == (COUNT,)
    assert touched.dtype == torch.int32
    assert 0 < touched.max() <= WIDTH * HEIGHT
    assert not touched[radii == 0].any()


def test_intrinsics_come_from_the_projection_matrix():
    matrix = pose.intrinsics(raw_matrix(), WIDTH, HEIGHT)

    torch.testing.assert_close(matrix, torch.tensor([[FX, 0, CX], [0, FY, CY], [0, 0, 1]]))


def test_values_of_motions_are_ignored():
    image = render(torch.float64)[0]
    moved_image = render(torch.float64, torch.ones(1, 3), torch.ones(3).double())[0]

    assert torch.equal(image, moved_image)


def test_pose_gradients_equal_those_of_a_small_motion(tolerance):
    after, leaves = exact_loss()
    assert torch.autograd.gradcheck(after, leaves, **tolerance["float64-gradcheck"])
    expected = torch.autograd.grad(after(*leaves), leaves)
    theta, rho = zero_motions(torch.float64)
    image, _, depth, alpha, _ = render(torch.float64, theta, rho)

    torch.testing.assert_close(torch.autograd.grad(weighted_sum(image, depth, alpha), (theta, rho)), expected)


def test_kernels_give_the_same_pose_gradients(tolerance):
    after, leaves = exact_loss()
    expected = torch.autograd.grad(after(*leaves), leaves)
    theta, rho = zero_motions(torch.float32)
    image, _, depth, alpha, touched = render(torch.float32, theta, rho)
    results = torch.autograd.grad(weighted_sum(image, depth, alpha), (theta, rho))

    for one, exact in zip(results, expected, strict=True):
        scale = exact.abs().max()
        torch.testing.assert_close(one.double() / scale, exact / scale, **tolerance["float32-splat-gradient"])
    assert (touched - render(torch.float64)[4]).abs().max() <= 1


def test_coefficients_of_degree_0_may_be_separate(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    arguments = scene(torch.float64)
    whole = arguments.pop("shs")
    rasterizer = package.GaussianRasterizer(settings(torch.float64, projmatrix_raw=None, antialiasing=True))
    flat = package.GaussianRasterizer(settings(torch.float64, projmatrix_raw=None, antialiasing=True, sh_degree=0))
    means2d = torch.zeros_like(arguments["means3D"])
    image, _, inverse = rasterizer(means2D=means2d, shs=whole, **arguments)
    parts = rasterizer(means2D=means2d, dc=whole[:, :1], shs=whole[:, 1:], **arguments)
    first = flat(means2D=means2d, dc=whole[:, :1], shs=whole[:, 1:1], **arguments)[0]

    assert torch.equal(image, parts[0])
    assert torch.equal(inverse, parts[2])
    assert torch.equal(first, flat(means2D=means2d, shs=whole, **arguments)[0])


def test_step_with_wrong_number_of_gaussians_is_rejected():
    optimizer = package.SparseGaussianAdam([torch.ones(4, requires_grad=True)], lr=0.1, eps=1e-15)

    with pytest.raises(ValueError, match="visibility has 3 elements, but N is 4"):
        optimizer.step(torch.ones(3), 4)


@pytest.mark.usefixtures("reference_on_cpu")
def test_only_visible_gaussians_are_optimized():
    value = torch.ones(3, 4, 3, requires_grad=True)
    optimizer = package.SparseGaussianAdam([{"params": [value], "lr": 0.1, "name": "f_rest"}], lr=0.0, eps=1e-15)
    value.grad = torch.ones_like(value)
    optimizer.step(torch.tensor([True, False, True]), 3)

    # After the first step with a gradient of one, m = 0.1 and v = 0.001.
    assert value[0, 0, 0].item() == pytest.approx(1 - 0.1 * 0.1 / 0.001**0.5, rel=1e-5)
    assert (value[1] == 1).all()
