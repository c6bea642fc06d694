from __future__ import annotations

import pytest

OPS = """
import torch
from typing import Any, NamedTuple
class Found(NamedTuple):
    dists: Any
    idx: Any
def knn_points(p1, p2, K):
    far = torch.cdist(p1, p2, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    found = far.topk(K, largest=False)
    return Found(found.values, found.indices{spoil})
"""
STRUCTURES = """
class Meshes:
    def __init__(self, verts, faces):
        self.corners = verts[0][faces[0]][0]
"""
RASTER = """
import torch
def rasterize_meshes(mesh, image_size, faces_per_pixel, bin_size):
    (ax, ay, _), (bx, by, _), (cx, cy, _) = mesh.corners
    grid = 1 - (2 * torch.arange(image_size) + 1) / image_size  # its axes point left and up
    x, y = grid[None, :], grid[:, None]
    inside = ((bx - ax) * (y - ay) > (by - ay) * (x - ax)) & ((cx - bx) * (y - by) > (cy - by) * (x - bx))
    inside = inside & ((ax - cx) * (y - cy) > (ay - cy) * (x - cx))
    return [torch.where(inside{spoil}, 0, -1)[None, ..., None]]
"""


@pytest.fixture
def pytorch3d(package):
    def make(spoil_points="", spoil_pixels="") -> None:
        package(
            "pytorch3d",
            library=True,
            ops=OPS.format(spoil=spoil_points),
            structures=STRUCTURES,
            renderer__DOT__mesh__DOT__rasterize_meshes=RASTER.format(spoil=spoil_pixels),
        )

    return make


def test_a_build_without_gpu_support_is_broken(package, run_probe):
    """The import works; the first operation on the device raises."""
    package(
        "pytorch3d",
        library=True,
        ops="def knn_points(p1, p2, K):\n    raise RuntimeError('Not compiled with GPU support.')\n",
        structures=STRUCTURES,
        renderer__DOT__mesh__DOT__rasterize_meshes="rasterize_meshes = None",
    )

    answer = run_probe("pytorch3d", "pytorch3d")

    assert (answer["outcome"], answer["reason"]) == ("broken", "RuntimeError: Not compiled with GPU support.")


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"spoil_points": ".roll(1, 1)"}, "points of knn_points"),
        ({"spoil_pixels": " & False"}, "pixels of a triangle is 0, not"),
        ({"spoil_pixels": " & (x > 0)"}, "pixels of a triangle"),
    ],
)
def test_wrong_neighbours_or_pixels_are_broken(pytorch3d, run_probe, how, reason):
    pytorch3d(**how)

    answer = run_probe("pytorch3d", "pytorch3d")

    assert answer["outcome"] == "broken"
    assert reason in answer["reason"]


def test_right_neighbours_and_pixels(pytorch3d, run_probe):
    pytorch3d()

    assert run_probe("pytorch3d", "pytorch3d")["outcome"] == "accelerated"
