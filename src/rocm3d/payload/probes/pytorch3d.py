"""PyTorch3D: nearest neighbours against all distances, and the pixels of a triangle against its edges."""

from __future__ import annotations

from typing import Any

SIZE = 32


def look(bench: Any) -> None:
    """A build without GPU support raises here."""
    from pytorch3d.ops import knn_points
    from pytorch3d.renderer.mesh.rasterize_meshes import rasterize_meshes
    from pytorch3d.structures import Meshes

    torch, triangle = bench.torch, bench.reference("triangle")
    queries, points = bench.random(200, 3, seed=1), bench.random(500, 3, seed=2)
    exact = torch.cdist(queries.double().cpu(), points.double().cpu(), compute_mode="donot_use_mm_for_euclid_dist")
    wanted = exact.topk(3, largest=False).values ** 2
    found = bench.run(lambda: knn_points(queries[None], points[None], K=3))
    bench.agree("distances of knn_points", found.dists[0], wanted, "float32-distance")
    chosen = exact.gather(1, found.idx[0].cpu()) ** 2
    bench.agree("points of knn_points", chosen, wanted, "float32-distance")
    vertices = torch.tensor([[x, y, 1.0] for x, y in triangle.CORNERS], device=bench.device)
    mesh = Meshes([vertices], [torch.tensor([[0, 1, 2]], device=bench.device)])
    faces = bench.run(lambda: rasterize_meshes(mesh, image_size=SIZE, faces_per_pixel=1, bin_size=0)[0])
    # The count alone: it is the same whichever way the axes point.
    bench.expect("pixels of a triangle", int((faces[0, ..., 0] >= 0).sum()), int(triangle.inside(torch, SIZE).sum()))
