from __future__ import annotations

import pytest
from tests.device import torch

import rocm3d_kernels
from rocm3d_kernels.ssim import reference, ssim

pytestmark = pytest.mark.usefixtures("poisoned")


def images(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(7)
    image = torch.rand(shape, generator=generator, dtype=dtype)
    target = (image + 0.2 * torch.randn(shape, generator=generator, dtype=dtype)).clamp(0, 1)
    return image.requires_grad_(), target


def exact(image, target, padding):
    image = image.detach().double().requires_grad_()
    value = reference.ssim(image, target.detach().double(), valid=padding == "valid")
    return value, torch.autograd.grad(value, image)[0]


@pytest.mark.parametrize(
    ("first", "second", "padding", "error", "text"),
    [
        ((1, 1, 4, 4), (1, 1, 4, 5), "same", ValueError, "shapes differ"),
        ((4, 4), (4, 4), "same", ValueError, r"\[N, C, H, W\]"),
        ((1, 0, 4, 4), (1, 0, 4, 4), "same", ValueError, "have no pixels"),
        ((1, 1, 10, 12), (1, 1, 10, 12), "valid", ValueError, "needs 11 by 11 pixels"),
        ((1, 1, 4, 4), (1, 1, 4, 4), "reflect", ValueError, "padding is 'reflect'"),
    ],
)
def test_wrong_arguments_are_rejected_before_a_launch(first, second, padding, error, text):
    with pytest.raises(error, match=text):
        ssim(torch.zeros(first), torch.zeros(second), padding)


def test_too_large_plane_is_rejected():
    large = torch.empty(1, 1, 1, 1, device="meta").expand(1, 1, 2**15, 2**15)

    with pytest.raises(ValueError, match="too large for 32-bit indices"):
        ssim(large, large)


def test_unsupported_dtypes_and_devices_are_rejected():
    with pytest.raises(TypeError, match="dtypes differ"):
        ssim(torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 4, 4).double())
    with pytest.raises(TypeError, match="float16 is not supported"):
        ssim(torch.zeros(1, 1, 4, 4).half(), torch.zeros(1, 1, 4, 4).half())
    with pytest.raises(ValueError, match="different devices"):
        ssim(torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 4, 4, device="meta"))


@pytest.mark.parametrize(
    ("shape", "padding"), [((1, 1, 1, 1), "same"), ((1, 1, 12, 35), "same"), ((1, 1, 13, 20), "valid")]
)
def test_kernel_agrees_with_float64(shape, padding, tolerance):
    image, target = images(*shape)
    value = ssim(image, target, padding)
    gradient = torch.autograd.grad(value, image)[0]

    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    expected, expected_gradient = exact(image, target, padding)
    torch.testing.assert_close(value.double(), expected, **tolerance["float32-ssim"])
    scale = image.numel()
    torch.testing.assert_close(gradient.double() * scale, expected_gradient * scale, **tolerance["float32-ssim"])


def test_any_strides_are_supported(tolerance):
    image, target = images(1, 11, 12, 2)
    permuted = image.detach().permute(0, 3, 1, 2).requires_grad_()
    expected, expected_gradient = exact(permuted, target.permute(0, 3, 1, 2), "same")
    value = ssim(permuted, target.permute(0, 3, 1, 2))

    torch.testing.assert_close(value.double(), expected, **tolerance["float32-ssim"])
    gradient = torch.autograd.grad(value, permuted)[0]
    torch.testing.assert_close(gradient.double() * 264, expected_gradient * 264, **tolerance["float32-ssim"])


def test_nan_pixel_makes_the_mean_nan():
    image, target = images(1, 1, 5, 6)
    image.detach()[0, 0, 2, 3] = torch.nan

    assert torch.isnan(ssim(image, target, train=False))


@pytest.mark.usefixtures("reference_on_cpu")
def test_equal_images_have_similarity_one():
    image, _ = images(1, 1, 20, 20)

    assert ssim(image, image).item() == pytest.approx(1)


@pytest.mark.usefixtures("reference_on_cpu")
def test_without_training_there_is_no_gradient():
    image, target = images(1, 1, 12, 12)

    assert not ssim(image, target, train=False).requires_grad


def test_reference_gradient_agrees_with_finite_differences(monkeypatch, tolerance):
    """Its explicit derivatives against finite differences; both images get a gradient."""
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    image, target = images(1, 1, 12, 13, dtype=torch.float64)
    target.requires_grad_()

    assert torch.autograd.gradcheck(lambda a, b: 100 * ssim(a, b), (image, target), **tolerance["float64-gradcheck"])
    assert torch.autograd.gradcheck(lambda a: 100 * ssim(a, target.detach(), "valid"), (image,))


def test_reference_is_the_textbook_formula():
    image, target = images(1, 1, 12, 13, dtype=torch.float64)
    weights = torch.tensor(reference.WEIGHTS, dtype=torch.float64)
    window = (weights[:, None] * weights[None])[None, None]
    a = torch.nn.functional.conv2d(image, window, padding=5)

    torch.testing.assert_close(reference.blur(image), a)
    assert weights.sum().item() == pytest.approx(1)
    torch.testing.assert_close(
        reference.forward(image, target, valid=True)[0], reference.ssim(image, target, valid=True)
    )


@pytest.mark.usefixtures("reference_on_cpu")
def test_torch_compile_captures_one_operator():
    image, target = images(1, 1, 12, 12)
    compiled = torch.compile(ssim, fullgraph=True, backend="aot_eager")
    plain = torch.autograd.grad(ssim(image, target), image)[0]

    torch.testing.assert_close(torch.autograd.grad(compiled(image, target), image)[0], plain)


@pytest.mark.usefixtures("reference_on_cpu")
def test_operator_passes_opcheck():
    image, target = images(1, 1, 12, 12)

    torch.library.opcheck(torch.ops.rocm3d_kernels.ssim.default, (image, target, False, True))
