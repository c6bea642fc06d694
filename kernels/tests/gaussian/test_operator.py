from __future__ import annotations

import pytest
from tests.device import torch
from torch._subclasses.fake_tensor import FakeTensorMode

# The import registers the operator, so the tests run in any order.
from rocm3d_kernels.gaussian import operator, rasterization  # noqa: F401
from rocm3d_kernels.gaussian.arguments import contiguous
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.projection import CameraSettings, Gaussians
from rocm3d_kernels.tiles import slot_guess

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


def scene():
    numbers = torch.Generator().manual_seed(0)
    views = torch.eye(4)[None].clone()
    views[:, 2, 3] = 3.0
    return {
        "means": torch.randn(5, 3, generator=numbers) * 0.4,
        "quats": torch.randn(5, 4, generator=numbers),
        "scales": torch.rand(5, 3, generator=numbers) * 0.3 + 0.02,
        "opacities": torch.rand(5, generator=numbers),
        "colors": torch.randn(5, 4, 3, generator=numbers),
        "viewmats": views,
    }


FOCAL = torch.tensor([[[9.0, 0, 5], [0, 9, 4], [0, 0, 1]]])


def draw(means, quats, scales, opacities, colors, viewmats, **more):
    image, alphas, meta = rasterization(
        means, quats, scales, opacities, colors, viewmats, FOCAL, 10, 8, sh_degree=1, render_mode="RGB+ED", **more
    )
    return image, alphas, meta["radii"]


def outputs_and_gradients(call):
    leaves = [one.clone().requires_grad_() for one in scene().values()]
    image, alphas, radii = call(*leaves)
    grads = torch.autograd.grad((image**2).sum() + alphas.sum(), leaves)
    return image.detach(), alphas.detach(), radii, *grads


@pytest.mark.parametrize("option", [{"packed": True}, {"absgrad": True}], ids=["packed", "absgrad"])
def test_packed_and_absgrad_are_refused_under_tracing(option):
    mode = FakeTensorMode()
    fake = [mode.from_tensor(one) for one in (*scene().values(), FOCAL)]

    with mode, pytest.raises(NotImplementedError, match="gaussian: "):
        rasterization(*fake, 10, 8, sh_degree=1, **option)


@pytest.mark.parametrize("implementation", ["triton", "reference"])
def test_torch_compile_sees_one_operator(implementation, monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", implementation)
    compiled = torch.compile(draw, fullgraph=True, backend="aot_eager")

    for actual, expected in zip(outputs_and_gradients(compiled), outputs_and_gradients(draw), strict=True):
        torch.testing.assert_close(actual, expected, **tolerance["float32-splat-gradient"])


def test_fake_tensors_have_the_shapes_of_real_ones():
    with FakeTensorMode() as mode:
        image, alphas, meta = rasterization(
            *[mode.from_tensor(one) for one in scene().values()], mode.from_tensor(FOCAL), 10, 8, sh_degree=1
        )

    assert (image.shape, alphas.shape, meta["radii"].shape) == ((1, 8, 10, 3), (1, 8, 10, 1), (1, 5, 2))


def test_tensors_without_memory_make_images_without_memory():
    image, alphas, _ = rasterization(*[one.to("meta") for one in (*scene().values(), FOCAL)], 10, 8, sh_degree=1)

    assert (image.device.type, image.shape, alphas.shape) == ("meta", (1, 8, 10, 3), (1, 8, 10, 1))


def test_operator_outputs_do_not_share_memory(monkeypatch):
    """As the fake kernel declares, also the second time, when a small scene uses guessed slots."""
    monkeypatch.setattr(slot_guess, "_HISTORIES", {})
    for _ in range(2):
        outputs = torch.ops.rocm3d_kernels.render.default(*operator_arguments())
        assert [one.storage_offset() for one in outputs] == [0] * 4
    assert len({one.untyped_storage().data_ptr() for one in outputs}) == 4


@pytest.mark.usefixtures("reference_on_cpu")
def test_operator_passes_opcheck():
    torch.library.opcheck(torch.ops.rocm3d_kernels.render.default, operator_arguments())


def operator_arguments():
    tensors = scene()
    options = RenderOptions(CameraSettings(10, 8), 1)
    gaussians = Gaussians(
        tensors["means"], None, tensors["quats"], tensors["scales"], tensors["opacities"], tensors["viewmats"], FOCAL
    )
    gaussians, colors, _ = contiguous(gaussians, tensors["colors"], None, options)
    leaves = [None if one is None else one.clone().requires_grad_() for one in (*gaussians, colors)]
    leaves[6] = FOCAL
    settings, *rest = options
    return *leaves, None, None, *settings, *rest
