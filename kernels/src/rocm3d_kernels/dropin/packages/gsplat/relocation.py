"""gsplat.relocation: `compute_relocation` of the MCMC strategy."""

from __future__ import annotations

from rocm3d_kernels.gaussian.relocation import compute_relocation

__all__ = ["compute_relocation"]
