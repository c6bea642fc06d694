"""Fit as Markdown: valid tables, and no markup from a repository."""

from __future__ import annotations

import re

from rocm3d.render.markdown import render

EVIL = "x|y\n# big <img src=x> [a](http://b) `c` @somebody"


def test_no_markup_of_the_repository_comes_through(make, knowledge):
    text = render(make.fit(make.decision(EVIL, "blocked", EVIL), title=EVIL), knowledge)

    assert "<img" not in text
    assert "](" not in text.replace("\\]", "")
    assert "@somebody" not in text
    assert [line for line in text.splitlines() if line.startswith("# ")] == [text.splitlines()[0]]


def test_every_row_has_the_cells_of_its_header(make, knowledge):
    width = 0
    for line in render(make.fit(make.decision(EVIL, "blocked", EVIL)), knowledge).splitlines():
        cells = len(re.split(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert not (width and cells) or cells == width
        width = cells


def test_the_parts_stand_in_order(make, knowledge):
    text = render(make.fit(make.decision("kaolin", "stub")), knowledge)
    titles = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]

    assert text.startswith("# demo on AMD Instinct MI300X\n\nKnowledge of 2026-11-15: **very good**, 5 of 5.\n")
    assert titles == [
        "Memory", "How memory was estimated", "Offload", "Advice", "Licence", "CUDA, ROCm or hybrid", "CUDA", "ROCm",
        "hybrid", "Conclusion", "Notes on the cards", "Sources",
    ]  # fmt: skip


def test_an_unknown_repository_is_not_known(make, knowledge):
    text = render(make.fit(known=False), knowledge)

    assert "**unknown**" in text
    assert "- not a known repository; its memory needs are unknown" in text
