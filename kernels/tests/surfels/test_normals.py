from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.surfels.normals import from_depth

LENS = torch.tensor([[[20.0, 0, 5], [0, 22, 4], [0, 0, 1]]], dtype=torch.float64)
VIEW = torch.tensor([[[0.0, 1, 0, 0.3], [-1, 0, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]]], dtype=torch.float64)


@pytest.mark.parametrize("size", [(1, 1), (2, 9), (9, 2)])
def test_a_picture_without_an_inside_has_no_normals(size):
    assert not from_depth(torch.ones(1, *size, 1).double(), VIEW, LENS).any()


def test_a_plane_has_its_own_normal_everywhere_inside():
    """n p = 1 with p = depth times the ray, so depth = 1 / (n ray)."""
    normal = torch.tensor([0.1, -0.2, 0.4], dtype=torch.float64)
    y, x = torch.meshgrid(torch.arange(8) + 0.5, torch.arange(10) + 0.5, indexing="ij")
    rays = torch.stack([(x - 5) / 20, (y - 4) / 22, torch.ones_like(x)], dim=-1).double()
    actual = from_depth((1.0 / (rays @ normal))[None, ..., None], VIEW, LENS)[0]
    # Facing the camera, in world space.
    expected = VIEW[0, :3, :3].T @ (-normal / normal.norm())

    torch.testing.assert_close(actual[1:-1, 1:-1], expected.expand(6, 8, 3))
    assert not actual[0].any()
    assert not actual[:, -1].any()
