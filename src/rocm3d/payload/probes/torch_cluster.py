"""torch-cluster: nearest neighbours and farthest points against plain torch."""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Neighbours are compared by distance, because equally near ones may come in any order."""
    import torch_cluster

    torch = session.torch
    points, queries = session.random_normal(500, 3, seed=1), session.random_normal(200, 3, seed=2)
    exact = torch.cdist(queries.double().cpu(), points.double().cpu(), compute_mode="donot_use_mm_for_euclid_dist")
    query, point = session.run(lambda: torch_cluster.knn(points, queries, 3)).cpu()
    session.check_close("queries of knn", query.sort().values, torch.arange(200).repeat_interleave(3), "int-exact")
    chosen = exact[query, point].view(200, 3).sort(1).values
    session.check_close("knn", chosen, exact.topk(3, largest=False).values, "float32-distance")
    sample = session.run(lambda: torch_cluster.fps(points, ratio=0.05, random_start=False))
    session.check_close("fps", sample, farthest(torch, points.double().cpu(), 25), "int-exact")


def farthest(torch: Any, points: Any, count: int) -> Any:
    """Farthest point sampling, starting with the first point."""
    selected, distance = [0], torch.full((len(points),), float("inf"), dtype=torch.float64)
    for _ in range(count - 1):
        distance = torch.minimum(distance, ((points - points[selected[-1]]) ** 2).sum(1))
        selected.append(int(distance.argmax()))
    return torch.tensor(selected)
