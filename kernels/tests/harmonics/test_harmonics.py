from __future__ import annotations

import math

import pytest
from tests.device import torch

import rocm3d_kernels
from rocm3d_kernels.harmonics import reference, spherical_harmonics

pytestmark = pytest.mark.usefixtures("poisoned")


def random_inputs(count, bases, dtype=torch.float32):
    numbers = torch.Generator().manual_seed(count)
    directions = torch.randn(count, 3, generator=numbers, dtype=dtype)
    return directions.requires_grad_(), torch.randn(count, bases, 3, generator=numbers, dtype=dtype).requires_grad_()


@pytest.mark.parametrize(
    ("degree", "directions", "coefficients", "masks", "text"),
    [
        (-1, (4, 3), (4, 16, 3), None, "degree is -1"),
        (5, (4, 3), (4, 36, 3), None, "degree is 5"),
        (1, (4, 2), (4, 4, 3), None, r"directions must be \[..., 3\]"),
        (2, (4, 3), (4, 4, 3), None, "K of at least 9"),
        (1, (4, 3), (5, 4, 3), None, "coefficients must be"),
        (1, (4, 3), (4, 4, 4), None, "coefficients must be"),
        (1, (4, 3), (3,), None, "coefficients must be"),
        (1, (4, 3), (4, 4, 3), (3,), "masks .* do not match"),
    ],
)
def test_wrong_arguments_are_refused(degree, directions, coefficients, masks, text):
    masks = None if masks is None else torch.ones(masks, dtype=torch.bool)

    with pytest.raises(ValueError, match=text):
        spherical_harmonics(degree, torch.zeros(directions), torch.zeros(coefficients), masks)


def test_other_dtypes_and_devices_are_refused():
    with pytest.raises(TypeError, match="float16 is not supported"):
        spherical_harmonics(0, torch.zeros(2, 3).half(), torch.zeros(2, 1, 3).half())
    with pytest.raises(ValueError, match="different devices"):
        spherical_harmonics(0, torch.zeros(2, 3), torch.zeros(2, 1, 3, device="meta"))


@pytest.mark.parametrize(("degree", "bases"), [(0, 1), (1, 16), (2, 9), (3, 16), (4, 25)])
def test_the_kernel_agrees_with_float64(degree, bases, tolerance):
    directions, coefficients = random_inputs(11, bases)
    masks = torch.arange(11) % 4 != 1
    weights = torch.randn(11, 3, generator=torch.Generator().manual_seed(3))
    actual = spherical_harmonics(degree, directions, coefficients, masks)

    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    exact = [one.detach().double().requires_grad_() for one in (directions, coefficients)]
    expected = reference.spherical_harmonics(degree, *exact) * masks[:, None]
    torch.testing.assert_close(actual.double(), expected, **tolerance["float32-operator"])
    for mine, true in zip(
        torch.autograd.grad((actual * weights).sum(), (directions, coefficients)),
        torch.autograd.grad((expected * weights).sum(), exact, materialize_grads=True),
        strict=True,
    ):
        torch.testing.assert_close(mine.double(), true, **tolerance["float32-operator"])


def test_no_directions_give_an_empty_result():
    assert spherical_harmonics(2, torch.zeros(0, 3), torch.zeros(0, 9, 3)).shape == (0, 3)


def test_leading_dimensions_and_strides_of_any_kind_are_taken(tolerance):
    directions, coefficients = (one.detach() for one in random_inputs(12, 4))
    batched = directions.view(3, 4, 3).transpose(0, 1)
    actual = spherical_harmonics(1, batched, coefficients.view(3, 4, 4, 3).transpose(0, 1))

    expected = reference.spherical_harmonics(1, directions, coefficients).view(3, 4, 3).transpose(0, 1)
    torch.testing.assert_close(actual, expected, **tolerance["float32-operator"])


def test_gradients_only_where_required():
    directions, coefficients = random_inputs(5, 4)
    spherical_harmonics(1, directions.detach(), coefficients).sum().backward()

    assert directions.grad is None
    assert coefficients.grad[:, 1:].abs().sum() > 0


def test_the_bases_are_orthonormal_on_the_sphere():
    """Gauss-Legendre in z and equal steps in azimuth integrate polynomials of this degree exactly."""
    import numpy as np

    z, weights = (torch.from_numpy(one) for one in np.polynomial.legendre.leggauss(8))
    turn = torch.arange(16, dtype=torch.float64) * (2 * math.pi / 16)
    flat = (1 - z**2).sqrt()
    unit = torch.stack(
        (flat[:, None] * turn.cos(), flat[:, None] * turn.sin(), z[:, None].expand(-1, 16)), dim=-1
    ).reshape(-1, 3)
    basis = reference.bases(4, unit)
    share = (weights[:, None].expand(-1, 16) * (2 * math.pi / 16)).reshape(-1, 1)

    torch.testing.assert_close(basis.T @ (basis * share), torch.eye(25, dtype=torch.float64))


def test_reference_passes_gradcheck(tolerance):
    directions, coefficients = random_inputs(3, 25, dtype=torch.float64)

    assert torch.autograd.gradcheck(
        lambda a, b: reference.spherical_harmonics(4, a, b),
        (directions, coefficients),
        **tolerance["float64-gradcheck"],
    )
