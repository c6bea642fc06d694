"""PyTorch3D: nearest neighbours against all distances, and the pixels that a triangle covers."""

from __future__ import annotations

from typing import Any

SIZE = 32


def check(session: Any) -> None:
    """A build without GPU support raises an error."""
    from pytorch3d.ops import knn_points
    from pytorch3d.renderer.mesh.rasterize_meshes import rasterize_meshes
    from pytorch3d.structures import Meshes

    torch, triangle = session.torch, session.reference("triangle")
    queries, points = session.random_normal(200, 3, seed=1), session.random_normal(500, 3, seed=2)
    exact = torch.cdist(queries.double().cpu(), points.double().cpu(), compute_mode="donot_use_mm_for_euclid_dist")
    expected = exact.topk(3, largest=False).values ** 2
    neighbours = session.run(lambda: knn_points(queries[None], points[None], K=3))
    session.check_close("distances of knn_points", neighbours.dists[0], expected, "float32-distance")
    chosen = exact.gather(1, neighbours.idx[0].cpu()) ** 2
    session.check_close("points of knn_points", chosen, expected, "float32-distance")
    vertices = torch.tensor([[x, y, 1.0] for x, y in triangle.CORNERS], device=session.device)
    mesh = Meshes([vertices], [torch.tensor([[0, 1, 2]], device=session.device)])
    faces = session.run(lambda: rasterize_meshes(mesh, image_size=SIZE, faces_per_pixel=1, bin_size=0)[0])
    # Only the count is compared: it does not depend on the direction of the axes.
    session.check_equal(
        "pixels of a triangle", int((faces[0, ..., 0] >= 0).sum()), int(triangle.inside(torch, SIZE).sum())
    )
