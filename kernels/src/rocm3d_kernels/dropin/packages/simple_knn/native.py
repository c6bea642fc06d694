"""simple_knn._C: `distCUDA2(points)`, the mean squared distance to the three nearest points."""

from __future__ import annotations

from rocm3d_kernels.knn import mean_squared_distance

__all__ = ["distCUDA2"]

distCUDA2 = mean_squared_distance  # noqa: N816
