from __future__ import annotations

import pytest
from tests.device import reference_for, torch

from rocm3d_kernels.gaussian.arguments import contiguous
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.gaussian.render_dispatch import rasterize
from rocm3d_kernels.projection import CameraSettings, Gaussians

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]


def render_with_gradients(dtype, options):
    """Image, and gradients of Gaussians, colours, background and `watched`."""
    numbers = torch.Generator().manual_seed(0)
    views = torch.eye(4)[None].clone()
    views[:, 2, 3] = 3.0
    tensors = [
        torch.randn(7, 3, generator=numbers) * 0.5,
        torch.randn(7, 4, generator=numbers),
        torch.rand(7, 3, generator=numbers) * 0.3 + 0.02,
        torch.rand(7, generator=numbers) * 0.6 + 0.5,
        torch.rand(7, 3, generator=numbers),
        torch.rand(1, 3, generator=numbers),
        torch.zeros(7, 3),
    ]
    leaves = [one.to(dtype).requires_grad_() for one in tensors]
    means, quats, scales, opacities, colors, back, watched = leaves
    focal = torch.tensor([[[16.0, 0, 10], [0, 17, 6], [0, 0, 1]]]).to(dtype)
    gaussians = Gaussians(means, None, quats, scales, opacities, views.to(dtype), focal)
    gaussians, colors, back = contiguous(gaussians, colors, back, options)
    with reference_for(dtype):
        image, _, _ = rasterize(gaussians, colors, back, options, watched=watched[:, :2] * 2.0)
    weights = torch.randn(image.shape, generator=torch.Generator().manual_seed(1))
    return image, torch.autograd.grad((image * weights).sum(), leaves)


@pytest.mark.parametrize("inverse", [False, True], ids=["depths", "inverse-depths"])
def test_depths_a_lower_cap_and_watched_means_agree_with_float64(inverse, tolerance):
    options = RenderOptions(CameraSettings(21, 13, near=0.2), with_depths=True, inverse_depths=inverse, cap=0.6)
    image, grads = render_with_gradients(torch.float32, options)
    expected, expected_grads = render_with_gradients(torch.float64, options)

    torch.testing.assert_close(image.double(), expected, **tolerance["float32-splat-forward"])
    for one, true in zip(grads, expected_grads, strict=True):
        scale = true.abs().max().clamp_min(1.0)
        torch.testing.assert_close(one.double() / scale, true / scale, **tolerance["float32-splat-gradient"])
    assert grads[-1][:, :2].abs().sum() > 0
    assert not grads[-1][:, 2].any()
