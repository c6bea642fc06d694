from __future__ import annotations

from pathlib import Path

import pytest

RASTER = """
import torch
class RasterizeCudaContext:
    def __init__(self, device):
        pass
def weights(pos, tri, size):
    a, b, c = (pos[0, n, :2] for n in tri[0])
    grid = (2 * torch.arange(size) + 1) / size - 1
    p = torch.stack([grid[None, :].expand(size, size), grid[:, None].expand(size, size)], -1)
    def area(u, v, w):
        return (v[..., 0] - u[..., 0]) * (w[..., 1] - u[..., 1]) - (v[..., 1] - u[..., 1]) * (w[..., 0] - u[..., 0])
    whole = area(a, b, c)
    return torch.stack([area(b, c, p), area(c, a, p), area(a, b, p)], -1) / whole
def rasterize(context, pos, tri, resolution):
    each = weights(pos, tri, resolution[0])
    inside = (each > 0).all(-1){spoil}
    raster = torch.cat([each[..., :2], torch.zeros_like(each[..., :1]), torch.ones_like(each[..., :1])], -1)
    return (raster * inside[..., None])[None], None
def interpolate(attr, raster, tri):
    u, v = raster[..., 0:1], raster[..., 1:2]
    x, y, z = (attr[:, n, None, None] for n in tri[0])
    return (u * x + v * y + (1 - u - v) * z) * (raster[..., 3:] > 0), None
"""
EMPTY = (Path(__file__).parents[1] / "fakes" / "nvdiffrast" / "torch.py").read_text()


def test_a_rasterizer_that_runs_and_computes_nothing_is_broken_although_it_imports(package, run_probe):
    package("nvdiffrast", library=True, torch=EMPTY)

    imported, used = run_probe("", "nvdiffrast"), run_probe("nvdiffrast", "nvdiffrast")

    assert imported["outcome"] == "imported"
    assert used["outcome"] == "broken"
    assert "covered pixels is 0, not 921" in used["reason"]
    assert "coverage computes nothing: the result is all zero" in used["reason"]


@pytest.mark.parametrize("spoil", [" | (each > -0.1).all(-1)", ".flip(0)"])
def test_wrong_pixels_are_broken(package, run_probe, spoil):
    package("nvdiffrast", library=True, torch=RASTER.format(spoil=spoil))

    assert run_probe("nvdiffrast", "nvdiffrast")["outcome"] == "broken"


def test_the_right_pixels(package, run_probe, checks_by_result):
    package("nvdiffrast", library=True, torch=RASTER.format(spoil=""))

    answer = run_probe("nvdiffrast", "nvdiffrast")

    assert checks_by_result(answer) == ({"covered pixels", "coverage", "interpolation"}, set())
    assert answer["outcome"] == "accelerated"
