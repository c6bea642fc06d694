"""Mean squared distance of points to their three nearest neighbours."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import check_tensors  # noqa: E402
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.knn import reference  # noqa: E402
from rocm3d_kernels.registration import operation  # noqa: E402

__all__ = ["mean_squared_distance"]

MAX_POINTS = 2**31 // 3 - 2**16


def mean_squared_distance(points: torch.Tensor) -> torch.Tensor:
    """[N, 3] -> [N]: mean squared distance of each point to its three nearest neighbours; exact, without gradient.

    With fewer than three neighbours the mean is over those. A point with a NaN or infinite coordinate is nobody's
    neighbour; such a point and a single point get NaN.
    """
    check_tensors("knn", {"points": points})
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"knn: points must be [N, 3], not {tuple(points.shape)}")
    if len(points) > MAX_POINTS:
        raise ValueError(f"knn: {len(points)} points are too many for 32-bit indices; the limit is {MAX_POINTS}")
    result: torch.Tensor = _knn(points.detach().contiguous())
    return result


def _run(points: torch.Tensor) -> torch.Tensor:
    implementation = choose("knn", points)
    if len(points) == 0:
        return points.new_empty(0)
    if implementation == "reference":
        return reference.mean_squared_distance(points)
    from rocm3d_kernels.knn import triton

    return triton.mean_squared_distance(points)


_knn = operation(_run, lambda points: points.new_empty(points.shape[0]), name="knn")
