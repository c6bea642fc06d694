from __future__ import annotations

import re
from typing import get_args
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.package import Decision
from rocm3d.render.charts.dependencies import DECISIONS, DependencyNode, dependency_map


def pictures(*nodes: DependencyNode) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", dependency_map(nodes), re.DOTALL)]


def test_every_decision_has_a_sign_and_a_meaning():
    assert set(DECISIONS) == set(get_args(Decision))
    assert len({sign for sign, _ in DECISIONS.values()}) == len(DECISIONS)


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40), st.sampled_from(list(DECISIONS))), max_size=12))
def test_any_names_make_a_picture_with_every_package_in_it(result):
    nodes = [DependencyNode(family, package, decision) for family, package, decision in result]

    for picture in pictures(*nodes):
        width, height = map(float, picture.get("viewBox").split()[2:])
        boxes = [entry for entry in picture.iter("rect") if entry.get("class").startswith("node")]
        assert len(boxes) == len(nodes)
        for box in boxes:
            assert float(box.get("x")) + float(box.get("width")) <= width
            assert float(box.get("y")) + float(box.get("height")) <= height


def test_the_most_blocking_family_comes_first():
    nodes = (
        DependencyNode("a", "kept", "keep"),
        DependencyNode("b", "stubbed", "stub"),
        DependencyNode("c", "gone", "blocked"),
    )
    for picture in pictures(*nodes):
        assert picture.get("aria-label") == ("Dependencies by family: c: gone blocked; b: stubbed stub; a: kept keep")


def test_families_packages_and_decisions_are_joined_by_lines():
    wide, _ = pictures(
        DependencyNode("Attention", "flash-attn", "build", "triton-backend"),
        DependencyNode("Attention", "xformers", "drop"),
    )
    kinds = [entry.get("class") for entry in wide.iter("path")]

    assert kinds.count("link") == 2
    assert {"link d-build", "link d-drop"} <= set(kinds)
    assert "flash-attn: build, triton-backend" in [entry.text for entry in wide.iter("title")]
    assert {"build 1", "built from source", "drop 1"} <= {entry.text for entry in wide.iter("text")}
