"""Times nearest neighbours against plain PyTorch and simple-knn on the same points.

`python benchmarks/knn.py [--output FILE] [--sweep]`. simple-knn must be importable for its column; plain PyTorch (all
pairs) is timed up to 100,000 points.
"""

from __future__ import annotations

import itertools
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels import last_dispatch, tuning
from rocm3d_kernels.knn import mean_squared_distance, reference
from side_by_side import SWEEP_SECONDS, WrongResultError, check_close, gpu, median_milliseconds, run, within_seconds

TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}  # float32-distance of knowledge/tolerances.toml
PROBE_COUNT = 2000
Distances = Callable[[torch.Tensor], torch.Tensor]


def original() -> Distances | None:
    """simple-knn's function, or None if it is not installed."""
    try:
        from simple_knn._C import distCUDA2
    except ImportError as error:
        sys.stderr.write(f"simple-knn is not timed: {error}\n")
        return None
    return distCUDA2  # type: ignore[no-any-return]


def scenes(device: torch.device) -> dict[str, torch.Tensor]:
    """A small cube, a large cube, and a cloud like that of a reconstruction: surfaces, clusters, far outliers."""
    torch.manual_seed(1)
    cube = torch.rand(1_000_000, 3, device=device)
    directions = torch.nn.functional.normalize(torch.randn(600_000, 3, device=device), dim=1)
    surfaces = directions * torch.randint(1, 5, (600_000, 1), device=device)
    clusters = torch.randn(380_000, 3, device=device) * 0.01 + torch.randint(-3, 4, (380_000, 3), device=device)
    far = torch.randn(20_000, 3, device=device) * 1000
    return {
        "cube 100k": cube[:100_000].contiguous(), "cube 1M": cube, "scene 1M": torch.cat((surfaces, clusters, far)),
    }  # fmt: skip


def exact(points: torch.Tensor, probes: torch.Tensor) -> torch.Tensor:
    """The exact result in float64 for some of the points."""
    exact_points, means = points.double(), []
    for probe in probes.split(50):
        squares = ((exact_points[probe][:, None] - exact_points[None]) ** 2).sum(-1)
        squares[torch.arange(len(probe)), probe] = torch.inf
        means.append(squares.topk(3, dim=1, largest=False).values.mean(1))
    return torch.cat(means)


def row(name: str, points: torch.Tensor, native: Distances | None) -> dict[str, Any]:
    """Checks the results, then times them."""
    probes = torch.randperm(len(points), device=points.device)[:PROBE_COUNT]
    result, expected = mean_squared_distance(points), exact(points, probes)
    dispatch = last_dispatch()
    if dispatch is None or dispatch.implementation != "triton":
        raise WrongResultError(f"ran on {dispatch}")
    errors = {"ours": check_close(name, result[probes], expected, **TOLERANCE)}
    functions: dict[str, Distances] = {"ours": mean_squared_distance}
    if native is not None:
        functions["simple_knn"] = native
        errors["simple_knn"] = float((native(points)[probes].double() - expected).abs().max())
    if len(points) <= 100_000:
        functions["pytorch"] = reference.mean_squared_distance
    times = median_milliseconds({key: lambda f=f: f(points) for key, f in functions.items()}, 10)
    return {"scene": name, "points": len(points), "errors": errors, "ms": times}


def sweep(device: torch.device) -> list[dict[str, Any]]:
    """Times of launch parameters, the best first."""
    results = []
    clouds = scenes(device)
    for unroll, box, group, chunk in within_seconds(
        SWEEP_SECONDS, itertools.product((8, 4, 16), (64, 32, 128), (64, 32), (256, 128))
    ):
        parameters = {"BOX": box, "GROUP": group, "CHUNK": chunk, "UNROLL": unroll}
        tuning.override_parameters("knn", {"search_kernel": parameters})
        times = median_milliseconds({key: lambda p=p: mean_squared_distance(p) for key, p in clouds.items()}, 5)
        results.append({**parameters, "ms": times})
    return sorted(results, key=lambda item: sum(item["ms"].values()))


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all scenes, or with --sweep for launch parameters."""
    device, native = gpu(), original()
    return sweep(device) if options.sweep else [row(name, p, native) for name, p in scenes(device).items()]


if __name__ == "__main__":
    sys.exit(run("knn", __doc__, rows, "--sweep"))
