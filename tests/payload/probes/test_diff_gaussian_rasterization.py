from __future__ import annotations

import pytest

RENDER = """
import torch
from typing import Any, NamedTuple
class GaussianRasterizationSettings(NamedTuple):
    image_height: int
    image_width: int
    tanfovx: float
    tanfovy: float
    bg: Any
    scale_modifier: float
    viewmatrix: Any
    projmatrix: Any
    sh_degree: int
    campos: Any
    prefiltered: bool
    debug: bool
    {further}
class GaussianRasterizer:
    def __init__(self, raster_settings):
        self.settings = raster_settings
    def __call__(self, means3D, means2D, opacities, scales, rotations, colors_precomp):
        s, size = self.settings, self.settings.image_width
        points = torch.cat([means3D, torch.ones(len(means3D), 1)], 1) @ s.projmatrix
        centre = ((points[:, :2] / points[:, 3:] + 1) * size - 1) / 2
        focal, grid = size / (2 * s.tanfovx), torch.arange(float(size))
        light, picture = torch.ones(size, size), torch.zeros(3, size, size)
        for n in means3D[:, 2].argsort():
            spread = (focal * scales[n, 0] / means3D[n, 2]) ** 2 + 0.3
            far = (grid[None, :] - centre[n, 0]) ** 2 + (grid[:, None] - centre[n, 1]) ** 2
            alpha = opacities[n] * torch.exp(-far / (2 * spread))
            picture = picture + light * alpha * colors_precomp[n][:, None, None]
            light = light * (1 - alpha)
        return picture * {factor}, None
"""


def test_a_variant_with_settings_of_its_own_is_not_guessed(package, run_probe):
    package("diff_gaussian_rasterization", __init__=RENDER.format(further="kernel_size: float", factor=1))

    answer = run_probe("diff_gaussian_rasterization", "diff_gaussian_rasterization")

    assert (answer["outcome"], answer["reason"]) == (
        "not_run",
        "a variant with unknown settings: kernel_size",
    )


@pytest.mark.parametrize("factor", ["0", "0.9"])
def test_a_wrong_picture_is_broken(package, run_probe, factor):
    package("diff_gaussian_rasterization", library=True, __init__=RENDER.format(further="", factor=factor))

    assert run_probe("diff_gaussian_rasterization", "diff_gaussian_rasterization")["outcome"] == "broken"


@pytest.mark.parametrize("further", ["", "antialiasing: bool"])
def test_the_right_picture(package, run_probe, checks_by_result, further):
    package("diff_gaussian_rasterization", library=True, __init__=RENDER.format(further=further, factor=1))

    answer = run_probe("diff_gaussian_rasterization", "diff_gaussian_rasterization")

    assert checks_by_result(answer) == ({"picture", "colour gradient"}, set())
    assert answer["outcome"] == "accelerated"
