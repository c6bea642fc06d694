"""Opacities and scales of n Gaussians that replace one, so that the image stays nearly the same.

Kheradmand and others, 3D Gaussian Splatting as Markov Chain Monte Carlo, 2024, equation 9: n copies of opacity
o' = 1 - (1 - o)^(1/n) have together the transmittance of one of o, and their scale is chosen so that the integral of
the rendered density is the same.
"""

from __future__ import annotations

import torch

from rocm3d_kernels.arguments import check_tensors


def compute_relocation(
    opacities: torch.Tensor,  # [N]
    scales: torch.Tensor,  # [N, 3]
    ratios: torch.Tensor,  # [N]: number of copies
    binoms: torch.Tensor,  # [n_max, n_max]: binoms[n, k] is n over k
) -> tuple[torch.Tensor, torch.Tensor]:
    """Opacities [N] and scales [N, 3] of each copy. Ratios are clamped to 1..n_max. No gradient."""
    _check(opacities, scales, ratios, binoms)
    n_max = binoms.shape[0]
    with torch.no_grad():
        copies = ratios.clamp(1, n_max).long()
        new_opacities = 1.0 - (1.0 - opacities) ** (1.0 / copies)
        # Sum over i = 1..n and k = 0..i-1 of (i-1 over k) (-1)^k o'^(k+1) / sqrt(k+1). For each k the sum of the
        # binomials over i comes from a cumulative sum over rows.
        power = torch.arange(1, n_max + 1, dtype=opacities.dtype, device=opacities.device)
        signs = 1.0 - 2.0 * ((power - 1.0) % 2.0)
        binom_sums = torch.tril(binoms.to(opacities.dtype)).cumsum(dim=0)[copies - 1]
        total = (binom_sums * signs * new_opacities[:, None] ** power / power.sqrt()).sum(dim=-1)
        # A single copy keeps its scale; so does, as a limit, a Gaussian of opacity 0.
        unchanged = (copies == 1) | (opacities == 0)
        return new_opacities, scales * torch.where(unchanged, 1.0, opacities / total)[:, None]


def _check(opacities: torch.Tensor, scales: torch.Tensor, ratios: torch.Tensor, binoms: torch.Tensor) -> None:
    tensors = {"opacities": opacities, "scales": scales, "ratios": ratios, "binoms": binoms}
    check_tensors("relocation", tensors)
    for name, one in tensors.items():
        if one.device != opacities.device or one.is_complex():
            raise ValueError(
                f"relocation: {name} must be real numbers on {opacities.device} like opacities, not {one.dtype} on "
                f"{one.device}"
            )
    if not opacities.is_floating_point() or scales.dtype != opacities.dtype:
        raise ValueError(
            f"relocation: opacities and scales must have one floating dtype, not {opacities.dtype}, {scales.dtype}"
        )
    count = opacities.shape[0] if opacities.dim() == 1 else -1
    if count < 0 or scales.shape != (count, 3) or ratios.shape != (count,):
        raise ValueError(
            f"relocation: opacities must be [N], scales [N, 3] and ratios [N], "
            f"not {tuple(opacities.shape)}, {tuple(scales.shape)} and {tuple(ratios.shape)}"
        )
    if binoms.dim() != 2 or binoms.shape[0] != binoms.shape[1] or not len(binoms):
        raise ValueError(f"relocation: binoms must be [n_max, n_max], not {tuple(binoms.shape)}")
