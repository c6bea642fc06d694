from __future__ import annotations

import pytest
from tests.device import torch
from torch._subclasses.fake_tensor import FakeTensorMode

# The import registers the operator, so the tests run in any order.
from rocm3d_kernels.gaussian import operator, rasterization  # noqa: F401
from rocm3d_kernels.gaussian.arguments import contiguous
from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.projection import Gaussians, Settings
from rocm3d_kernels.tiles import ahead

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


def graded(call):
    leaves = [one.clone().requires_grad_() for one in scene().values()]
    image, alphas, radii = call(*leaves)
    grads = torch.autograd.grad((image**2).sum() + alphas.sum(), leaves)
    return image.detach(), alphas.detach(), radii, *grads


@pytest.mark.parametrize("option", [{"packed": True}, {"absgrad": True}], ids=["packed", "absgrad"])
def test_what_a_compiler_cannot_see_is_refused(option):
    mode = FakeTensorMode()
    fake = [mode.from_tensor(one) for one in (*scene().values(), FOCAL)]

    with mode, pytest.raises(NotImplementedError, match="gaussian: "):
        rasterization(*fake, 10, 8, sh_degree=1, **option)


@pytest.mark.parametrize("way", ["triton", "reference"])
def test_torch_compile_sees_one_operator(way, monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", way)
    compiled = torch.compile(draw, fullgraph=True, backend="aot_eager")

    for found, wanted in zip(graded(compiled), graded(draw), strict=True):
        torch.testing.assert_close(found, wanted, **tolerance["float32-splat-gradient"])


def test_fake_tensors_have_the_shapes_of_real_ones():
    with FakeTensorMode() as mode:
        image, alphas, meta = rasterization(
            *[mode.from_tensor(one) for one in scene().values()], mode.from_tensor(FOCAL), 10, 8, sh_degree=1
        )

    assert (image.shape, alphas.shape, meta["radii"].shape) == ((1, 8, 10, 3), (1, 8, 10, 1), (1, 5, 2))


def test_tensors_without_memory_make_images_without_memory():
    image, alphas, _ = rasterization(*[one.to("meta") for one in (*scene().values(), FOCAL)], 10, 8, sh_degree=1)

    assert (image.device.type, image.shape, alphas.shape) == ("meta", (1, 8, 10, 3), (1, 8, 10, 1))


def test_what_the_operator_returns_lies_in_memory_of_its_own(monkeypatch):
    """As the fake kernel declares, also the second time, when a small scene uses guessed slots."""
    monkeypatch.setattr(ahead, "_PLACES", {})
    for _ in range(2):
        found = torch.ops.rocm3d_kernels.render.default(*arguments_of_the_operator())
        assert [one.storage_offset() for one in found] == [0] * 4
    assert len({one.untyped_storage().data_ptr() for one in found}) == 4


@pytest.mark.usefixtures("reference_on_cpu")
def test_the_operator_keeps_the_rules_of_torch_library():
    torch.library.opcheck(torch.ops.rocm3d_kernels.render.default, arguments_of_the_operator())


def arguments_of_the_operator():
    given = scene()
    options = Options(Settings(10, 8), 1)
    gaussians = Gaussians(
        given["means"], None, given["quats"], given["scales"], given["opacities"], given["viewmats"], FOCAL
    )
    gaussians, colors, _ = contiguous(gaussians, given["colors"], None, options)
    leaves = [None if one is None else one.clone().requires_grad_() for one in (*gaussians, colors)]
    leaves[6] = FOCAL
    settings, *rest = options
    return *leaves, None, None, *settings, *rest
