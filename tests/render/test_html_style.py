"""Colours of the pages have enough contrast in all three palettes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocm3d.render import html


def channel(part: str) -> float:
    value = int(part, 16) / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    return sum(weight * channel(colour[at : at + 2]) for weight, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


STYLE = (Path(html.__file__).parent / "templates" / "_style.html").read_text()
PALETTES = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in STYLE.split(":root {")[1:]]


@pytest.mark.parametrize("palette", PALETTES, ids=["light", "dark", "paper"])
def test_words_can_be_read_on_every_ground(palette):
    """WCAG requires a contrast of 4.5 for text and 3 for graphics."""
    grounds = ("paper", "card", "sunk", "good-bg", "bad-bg", "wait-bg", "blue-bg")
    low = {
        (name, ground): round(contrast(palette[name], palette[ground]), 2)
        for name in ("ink", "soft", "good", "bad", "wait", "blue")
        for ground in grounds
        if contrast(palette[name], palette[ground]) < 4.5
    }
    drawn = {
        (bar, ground)
        for bar in ("c0", "c1", "c2", "c3", "c4", "c5", "unknown")
        for ground in ("paper", "card")
        if contrast(palette[bar], palette[ground]) < 3
    }

    assert (low, drawn) == ({}, set())
