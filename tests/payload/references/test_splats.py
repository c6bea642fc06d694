from __future__ import annotations

import importlib.util
import math
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "references" / "splats.py"
spec = importlib.util.spec_from_file_location("splats", SCRIPT)
splats = importlib.util.module_from_spec(spec)
spec.loader.exec_module(splats)


def alpha(number: int, squared: float) -> float:
    width = (splats.FOCAL * splats.SCALE / splats.DEPTHS[number]) ** 2 + 0.3
    return splats.OPACITIES[number] * math.exp(-squared / (2 * width))


def test_no_pixel_is_so_near_the_threshold_that_rounding_decides():
    """Rasterizers skip alpha below 1/255; no alpha is within 1 % of that."""
    steps = [n + 0.5 for n in range(splats.SIZE // 2)]
    shares = [alpha(number, x * x + y * y) * 255 for number in (0, 1) for x in steps for y in steps]

    assert min(abs(share - 1) for share in shares) > 0.01


def test_far_gaussian_comes_first():
    assert splats.DEPTHS[0] > splats.DEPTHS[1]
    assert alpha(0, 0) * alpha(1, 0) > 0.3  # they overlap
