from __future__ import annotations

import pytest

FUSED = """
import torch
def fused_ssim(a, b, window=11, sigma=1.5):
    x = torch.arange(window) - window // 2
    g = torch.exp(-x.float() ** 2 / (2 * sigma ** 2))
    g = (g / g.sum()).float()
    def blur(p):
        conv = torch.nn.functional.conv2d
        p = conv(p, g.view(1, 1, 1, -1).expand(3, 1, 1, -1), padding=(0, window // 2), groups=3)
        return conv(p, g.view(1, 1, -1, 1).expand(3, 1, -1, 1), padding=(window // 2, 0), groups=3)
    ma, mb = blur(a), blur(b)
    va, vb, cov = blur(a * a) - ma * ma, blur(b * b) - mb * mb, blur(a * b) - ma * mb
    top = (2 * ma * mb + 0.01 ** 2) * (2 * cov + 0.03 ** 2)
    return (top / ((ma ** 2 + mb ** 2 + 0.01 ** 2) * (va + vb + 0.03 ** 2))).mean()
"""


@pytest.mark.parametrize(("good", "bad"), [("sigma=1.5", "sigma=1.4"), (".mean()", ".mean() * 0"), ("0.03", "0.02")])
def test_another_similarity_is_broken(package, run_probe, good, bad):
    package("fused_ssim", library=True, __init__=FUSED.replace(good, bad))

    assert run_probe("fused_ssim", "fused_ssim")["outcome"] == "broken"


def test_the_similarity_and_its_gradient(package, run_probe, checks_by_result):
    package("fused_ssim", library=True, __init__=FUSED)

    answer = run_probe("fused_ssim", "fused_ssim")

    assert checks_by_result(answer) == ({"mean", "gradient"}, set())
    assert answer["outcome"] == "accelerated"
