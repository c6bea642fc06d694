"""Real spherical harmonics up to degree 4 in plain PyTorch, from Legendre polynomials."""

from __future__ import annotations

import math

import torch

MAX_DEGREE = 4


def _normalization(degree: int, order: int) -> float:
    """Normalisation factor of the real harmonic, without its sign."""
    factor = (2 * degree + 1) / (4 * math.pi) * math.factorial(degree - order) / math.factorial(degree + order)
    return math.sqrt(factor * (2 if order else 1))


def bases(degree: int, directions: torch.Tensor) -> torch.Tensor:
    """All basis functions up to `degree` at unit directions [..., 3]: [..., (degree + 1)^2], m from -l to l.

    Odd orders carry a minus sign (Condon-Shortley), as in the papers and files of Gaussian splatting.
    """
    x, y, z = directions.unbind(-1)
    cosines, sines = [torch.ones_like(x)], [torch.zeros_like(x)]  # r^m cos(m phi), r^m sin(m phi)
    for _ in range(degree):
        cosines, sines = [*cosines, x * cosines[-1] - y * sines[-1]], [*sines, x * sines[-1] + y * cosines[-1]]
    legendre = _legendre(degree, z)
    values = []
    for band in range(degree + 1):
        for order in range(-band, band + 1):
            azimuth = sines[-order] if order < 0 else cosines[order]
            sign = -1.0 if order % 2 else 1.0
            values.append(sign * _normalization(band, abs(order)) * legendre[band][abs(order)] * azimuth)
    return torch.stack(values, dim=-1)


def _legendre(degree: int, z: torch.Tensor) -> list[list[torch.Tensor]]:
    """Associated Legendre polynomials of z, divided by (1 - z^2)^(m/2), without Condon-Shortley sign."""
    table: list[list[torch.Tensor]] = []
    for band in range(degree + 1):
        row = []
        for order in range(band + 1):
            if order == band:
                row.append(torch.full_like(z, float(math.prod(range(1, 2 * band, 2)))))
            elif order == band - 1:
                row.append((2 * band - 1) * z * table[band - 1][order])
            else:
                upper, lower = table[band - 1][order], table[band - 2][order]
                row.append(((2 * band - 1) * z * upper - (band + order - 1) * lower) / (band - order))
        table.append(row)
    return table


def spherical_harmonics(degree: int, directions: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    """Sum of coefficients [..., K, 3] times bases at the directions [..., 3], which are normalised."""
    count = (degree + 1) ** 2
    unit = directions / directions.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    return (bases(degree, unit)[..., None] * coefficients[..., :count, :]).sum(dim=-2)
