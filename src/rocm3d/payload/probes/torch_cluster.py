"""torch-cluster: nearest neighbours and farthest points against plain torch."""

from __future__ import annotations

from typing import Any


def look(bench: Any) -> None:
    """Neighbours are compared by their distances, as equal ones may come in any order."""
    import torch_cluster

    torch = bench.torch
    points, queries = bench.random(500, 3, seed=1), bench.random(200, 3, seed=2)
    exact = torch.cdist(queries.double().cpu(), points.double().cpu(), compute_mode="donot_use_mm_for_euclid_dist")
    query, point = bench.run(lambda: torch_cluster.knn(points, queries, 3)).cpu()
    bench.agree("queries of knn", query.sort().values, torch.arange(200).repeat_interleave(3), "int-exact")
    chosen = exact[query, point].view(200, 3).sort(1).values
    bench.agree("knn", chosen, exact.topk(3, largest=False).values, "float32-distance")
    sample = bench.run(lambda: torch_cluster.fps(points, ratio=0.05, random_start=False))
    bench.agree("fps", sample, farthest(torch, points.double().cpu(), 25), "int-exact")


def farthest(torch: Any, points: Any, count: int) -> Any:
    """From the first point on, always the one that is farthest from those taken."""
    taken, distance = [0], torch.full((len(points),), float("inf"), dtype=torch.float64)
    for _ in range(count - 1):
        distance = torch.minimum(distance, ((points - points[taken[-1]]) ** 2).sum(1))
        taken.append(int(distance.argmax()))
    return torch.tensor(taken)
