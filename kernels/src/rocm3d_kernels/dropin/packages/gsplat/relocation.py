"""gsplat.relocation: where Gaussians of a Markov chain go."""

from __future__ import annotations

from rocm3d_kernels.gaussian.relocation import compute_relocation

__all__ = ["compute_relocation"]
