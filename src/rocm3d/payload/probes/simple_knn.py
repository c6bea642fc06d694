"""simple-knn: mean squared distance to the three nearest points, against all distances."""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Uses more points than fit into one block of the kernel."""
    native = session.submodule("_C")
    points = session.random_normal(3000, 3, seed=1)
    exact = points.double().cpu()
    nearest = (
        session.torch.cdist(exact, exact, compute_mode="donot_use_mm_for_euclid_dist").topk(4, largest=False).values
    )
    expected = (nearest[:, 1:] ** 2).mean(1)
    session.check_close("distCUDA2", session.run(lambda: native.distCUDA2(points)), expected, "float32-distance")
