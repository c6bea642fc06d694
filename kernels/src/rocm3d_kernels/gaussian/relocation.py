"""Opacities and scales of Gaussians that take the place of one, so that the picture stays nearly the same.

Kheradmand and others, 3D Gaussian Splatting as Markov Chain Monte Carlo, 2024, equation 9: n copies of opacity
o' = 1 - (1 - o)^(1/n) let through as much light together as one of o did, and their scale is chosen so that the
integral of what they show is the same.
"""

from __future__ import annotations

import torch


def compute_relocation(
    opacities: torch.Tensor,  # [N]
    scales: torch.Tensor,  # [N, 3]
    ratios: torch.Tensor,  # [N]: how many each becomes
    binoms: torch.Tensor,  # [n_max, n_max]: binoms[n, k] is n over k
) -> tuple[torch.Tensor, torch.Tensor]:
    """Opacities and scales of each of the new Gaussians; ratios are taken between 1 and n_max. No gradient."""
    _check(opacities, scales, ratios, binoms)
    most = binoms.shape[0]
    with torch.no_grad():
        times = ratios.clamp(1, most).long()
        new = 1.0 - (1.0 - opacities) ** (1.0 / times)
        # Sum over i = 1..n and k = 0..i-1 of (i-1 over k) (-1)^k o'^(k+1) / sqrt(k+1): for each k the binomials over
        # all i up to n together, as running sums over rows.
        power = torch.arange(1, most + 1, dtype=opacities.dtype, device=opacities.device)
        signs = 1.0 - 2.0 * ((power - 1.0) % 2.0)
        together = torch.tril(binoms.to(opacities.dtype)).cumsum(dim=0)[times - 1]
        total = (together * signs * new[:, None] ** power / power.sqrt()).sum(dim=-1)
        # One stays as it is; so does, in the limit, what is not there at all.
        same = (times == 1) | (opacities == 0)
        return new, scales * torch.where(same, 1.0, opacities / total)[:, None]


def _check(opacities: torch.Tensor, scales: torch.Tensor, ratios: torch.Tensor, binoms: torch.Tensor) -> None:
    count = opacities.shape[0] if opacities.dim() == 1 else -1
    if count < 0 or scales.shape != (count, 3) or ratios.shape != (count,):
        raise ValueError(
            f"relocation: opacities are [N], scales [N, 3] and ratios [N]; "
            f"these are {tuple(opacities.shape)}, {tuple(scales.shape)} and {tuple(ratios.shape)}"
        )
    if binoms.dim() != 2 or binoms.shape[0] != binoms.shape[1] or not len(binoms):
        raise ValueError(f"relocation: binoms are [n_max, n_max], these are {tuple(binoms.shape)}")
