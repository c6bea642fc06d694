from __future__ import annotations

import pytest

PLAIN = """
import torch
def ms_deform_attn_forward(value, shapes, starts, places, weights, step):
    n, _, heads, channels = value.shape
    _, queries, _, levels, points, _ = places.shape
    out = torch.zeros(n, queries, heads, channels)
    for l, (h, w) in enumerate(shapes.tolist()):
        part = value[:, starts[l]:starts[l] + h * w].view(n, h, w, heads, channels)
        x, y = places[:, :, :, l, :, 0] * w - 0.5, places[:, :, :, l, :, 1] * h - 0.5
        for dy in (0, 1):
            for dx in (0, 1):
                cx, cy = x.floor() + dx, y.floor() + dy
                share = (1 - (x - cx).abs()) * (1 - (y - cy).abs()) * weights[:, :, :, l]
                share = share * ((cx >= 0) & (cx < w) & (cy >= 0) & (cy < h))
                cx, cy = cx.clamp(0, w - 1).long(), cy.clamp(0, h - 1).long()
                b = torch.arange(n)[:, None, None, None]
                m = torch.arange(heads)[None, None, :, None]
                out = out + (part[b, cy, cx, m] * share[..., None]).sum(3)
    return out.flatten(2){spoil}
"""


def test_a_package_without_its_extension_is_a_fallback(package, run_probe):
    """GroundingDINO only warns about a missing extension."""
    package("groundingdino")

    answer = run_probe("deformable_attention", "groundingdino")

    assert answer["outcome"] == "fallback"
    assert answer["reason"].startswith("groundingdino._C cannot be imported")


@pytest.mark.parametrize("spoil", [" * 0", " * 1.001", ".roll(1, 1)"])
def test_a_wrong_result_is_broken(package, run_probe, spoil):
    package("MultiScaleDeformableAttention", library=True, __init__=PLAIN.format(spoil=spoil))

    assert run_probe("deformable_attention", "MultiScaleDeformableAttention")["outcome"] == "broken"


@pytest.mark.parametrize("name", ["MultiScaleDeformableAttention", "groundingdino"])
def test_both_packages_are_accelerated(package, run_probe, name):
    file = "__init__" if name[0] == "M" else "_C"
    package(name, library=True, **{file: PLAIN.format(spoil="")})

    assert run_probe("deformable_attention", name)["outcome"] == "accelerated"
