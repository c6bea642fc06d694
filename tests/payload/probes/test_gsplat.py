from __future__ import annotations

import pytest

RENDER = """
import torch
def rasterization(means, quats, scales, opacities, colors, viewmats, Ks, width, height):
    order = means[:, 2].argsort({order})
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    light, picture, total = torch.ones(height, width), torch.zeros(height, width, 3), torch.zeros(height, width)
    for n in order:
        spread = (Ks[0, 0, 0] * scales[n, 0] / means[n, 2]) ** 2 + {blur}
        alpha = opacities[n] * torch.exp(-((x - Ks[0, 0, 2]) ** 2 + (y - Ks[0, 1, 2]) ** 2) / (2 * spread))
        picture = picture + (light * alpha)[..., None] * colors[n]
        total, light = total + light * alpha, light * (1 - alpha)
    return {factor} * picture[None], {factor} * total[None, ..., None], dict()
"""


@pytest.fixture
def gsplat(package):
    def make(native="'compiled'", order="", blur="0.3", factor="1") -> None:
        package(
            "gsplat",
            library=True,
            __init__=RENDER.format(order=order, blur=blur, factor=factor),
            cuda____DOT____init__="",
            cuda__DOT___backend=f"_C = {native}",
        )

    return make


def test_without_the_compiled_part_it_is_a_fallback(gsplat, run_probe):
    gsplat(native="None")

    answer = run_probe("gsplat", "gsplat")

    assert (answer["outcome"], answer["reason"]) == (
        "fallback",
        "its compiled extension is missing (_C is None)",
    )


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"factor": "0"}, "computes nothing"),
        ({"order": "descending=True"}, "picture is"),
        ({"blur": "1.5"}, "picture is"),
        ({"factor": "float('nan')"}, "not finite"),
    ],
)
def test_a_wrong_picture_is_broken(gsplat, run_probe, how, reason):
    gsplat(**how)

    answer = run_probe("gsplat", "gsplat")

    assert answer["outcome"] == "broken"
    assert reason in answer["reason"]


def test_the_right_picture(gsplat, run_probe, checks_by_result):
    gsplat()

    answer = run_probe("gsplat", "gsplat")

    assert answer["outcome"] == "accelerated"
    assert checks_by_result(answer) == ({"picture", "alpha", "colour gradient"}, set())
