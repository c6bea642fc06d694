"""Mean structural similarity (SSIM) of two batches of images, with its gradient."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import MAX_INT32, check_tensors, short  # noqa: E402
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.registration import operation  # noqa: E402
from rocm3d_kernels.ssim import reference  # noqa: E402

__all__ = ["ssim"]

PADDINGS = ("same", "valid")
# Rows and columns of a program, the least in tuning/ssim.json.
LEAST_TILE = (10, 32)


def ssim(image: torch.Tensor, target: torch.Tensor, padding: str = "same", *, train: bool = True) -> torch.Tensor:
    """The mean SSIM of `image` and `target`, both [N, C, H, W]; 1 for equal images.

    `padding` is "same" (zero padding) or "valid" (only pixels whose window lies inside the image). Differentiable in
    both. With `train=False` there is no gradient, and nothing is saved for it.
    """
    _check(image, target, padding)
    image, target, valid = image.contiguous(), target.contiguous(), padding == "valid"
    train = train and torch.is_grad_enabled()
    image_grad, target_grad = train and image.requires_grad, train and target.requires_grad
    constant_target = target.detach() if target.requires_grad else target
    value: torch.Tensor = _ssim(image if image_grad else image.detach(), constant_target, valid, image_grad)[0]
    if not target_grad:
        return value
    # SSIM is symmetric, so the gradient of the target is that of the image with both exchanged.
    exchanged = _ssim(target, image.detach(), valid, True)[0]
    return value + (exchanged - exchanged.detach())


def _check(image: torch.Tensor, target: torch.Tensor, padding: str) -> None:
    if not isinstance(padding, str) or padding not in PADDINGS:
        raise ValueError(f"ssim: padding is {short(padding)}; choose same or valid")
    check_tensors("ssim", {"image": image, "target": target})
    if image.ndim != 4:
        raise ValueError(f"ssim: images must be [N, C, H, W], not {tuple(image.shape)}")
    if image.shape != target.shape:
        raise ValueError(f"ssim: shapes differ: {tuple(image.shape)} and {tuple(target.shape)}")
    if image.dtype != target.dtype:
        raise TypeError(f"ssim: dtypes differ: {image.dtype} and {target.dtype}")
    if image.device != target.device:
        raise ValueError(f"ssim: tensors are on different devices: {image.device} and {target.device}")
    if image.numel() == 0:
        raise ValueError(f"ssim: images of shape {tuple(image.shape)} have no pixels")
    smallest = reference.SIZE if padding == "valid" else 1
    if min(image.shape[-2:]) < smallest:
        raise ValueError(
            f"ssim: padding valid needs {smallest} by {smallest} pixels; the image has {tuple(image.shape[-2:])}"
        )
    if image.shape[-2] * image.shape[-1] >= 2**30:
        raise ValueError(f"ssim: a plane of {tuple(image.shape[-2:])} pixels is too large for 32-bit indices")
    rows, columns = LEAST_TILE
    if image.shape[:2].numel() * -(-image.shape[2] // rows) * -(-image.shape[3] // columns) > MAX_INT32:
        raise ValueError(f"ssim: images of shape {tuple(image.shape)} need more programs than a launch can have")


def _run(image: torch.Tensor, target: torch.Tensor, valid: bool, train: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean and, for training, its gradient by the image: the incoming gradient is a scalar and only scales it."""
    if choose("ssim", image, target) == "reference":
        mean, derivatives = reference.forward(image, target, valid=valid)
        return mean, reference.gradient(image, target, derivatives) if train else image.new_empty(0)
    from rocm3d_kernels.ssim import triton

    mean, derivatives = triton.forward(image, target, valid=valid, with_derivatives=train)
    return mean, triton.gradient(image, target, derivatives) if train else derivatives


def _run_fake(image: torch.Tensor, _: torch.Tensor, __: bool, train: bool) -> tuple[torch.Tensor, torch.Tensor]:
    return image.new_empty(()), torch.empty_like(image) if train else image.new_empty(0)


def _save_for_backward(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(output[1])
    ctx.mark_non_differentiable(output[1])


def _backward(ctx, gradient, _):  # type: ignore[no-untyped-def]
    image_gradient = None if gradient is None else gradient * ctx.saved_tensors[0]
    return image_gradient, None, None, None


_ssim = operation(_run, _run_fake, name="ssim", keep=_save_for_backward, backward=_backward)
