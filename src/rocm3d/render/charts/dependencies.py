"""The dependency map: families on the left, packages in the middle, decisions on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm3d.render.charts.drawing import WIDE, Drawing, for_both_widths, truncate, wrap

# Sign and meaning of each decision, most blocking first; signs are for readers who cannot see the colours.
DECISIONS: dict[str, tuple[str, str]] = {
    "blocked": ("\u2715", "no route to this GPU"),
    "stub": ("\u25a1", "imports, computes nothing"),
    "substitute": ("\u25c7", "another package"),
    "build": ("\u25b2", "built from source"),
    "replace": ("\u21c4", "another wheel or version"),
    "drop": ("\u2212", "left out"),
    "keep": ("\u25cf", "unchanged"),
}
_ROW, _GAP, _TOP = 24, 16, 28
_FAMILY, _PACKAGE, _DECISION = 0, 280, 640
_BOX_WIDTH = 230


@dataclass(frozen=True)
class DependencyNode:
    """One package with its family and its decision."""

    family: str
    package: str
    decision: str
    route: str = ""


def dependency_map(nodes: Sequence[DependencyNode]) -> str:
    """SVG for both widths."""
    families = _group_by_family(nodes)
    description = "Dependencies by family: " + "; ".join(
        f"{family}: {', '.join(f'{node.package} {node.decision}' for node in inside)}" for family, inside in families
    )
    return for_both_widths(
        lambda width: (
            _draw_wide(width, description, families) if width >= WIDE else _draw_narrow(width, description, families)
        )
    )


def _group_by_family(nodes: Sequence[DependencyNode]) -> list[tuple[str, list[DependencyNode]]]:
    """Families with the most blocking decisions first."""
    by_family: dict[str, list[DependencyNode]] = {}
    for node in sorted(nodes, key=lambda node: (_rank(node), node.package)):
        by_family.setdefault(node.family, []).append(node)
    return sorted(by_family.items(), key=lambda item: ([_rank(node) for node in item[1]][:3], item[0]))


def _rank(node: DependencyNode) -> int:
    return list(DECISIONS).index(node.decision) if node.decision in DECISIONS else len(DECISIONS)


def _draw_wide(width: float, description: str, families: list[tuple[str, list[DependencyNode]]]) -> str:
    rows = sum(len(inside) for _, inside in families)
    height = _TOP + rows * _ROW + (len(families) - 1) * _GAP + 8
    used = [name for name in DECISIONS if any(node.decision == name for _, inside in families for node in inside)]
    height = max(height, _TOP + 44 * len(used))
    drawing = Drawing(width, height, description)
    for x, words in ((_FAMILY, "family"), (_PACKAGE, "package"), (_DECISION, "decision")):
        drawing.text(x, 12, words, "soft small")
    step = (height - _TOP) / max(1, len(used))
    targets = {name: _TOP + step * number + step / 2 for number, name in enumerate(used)}
    y, boxes = float(_TOP), []
    for family, inside in families:
        middle = y + len(inside) * _ROW / 2
        label_lines = wrap(family, 200)
        for number, words in enumerate(label_lines):
            drawing.text(
                _FAMILY, middle + 4 + 14 * (number - (len(label_lines) - 1) / 2), words, "strong", tooltip=family
            )
        for node in inside:
            drawing.curve((214, middle), (_PACKAGE - 8, y + _ROW / 2), "link")
            drawing.curve((_PACKAGE + _BOX_WIDTH, y + _ROW / 2), (_DECISION - 12, targets.get(node.decision, middle)),
                          f"link d-{node.decision}")  # fmt: skip
            boxes.append((y, node))
            y += _ROW
        y += _GAP
    for top, node in boxes:
        _draw_package(drawing, (_PACKAGE, top + 2, _BOX_WIDTH, _ROW - 4), node)
    for name in used:
        count = sum(node.decision == name for _, inside in families for node in inside)
        _draw_decision(drawing, targets[name], name, count)
    return drawing.svg()


def _draw_package(drawing: Drawing, bounds: tuple[float, float, float, float], node: DependencyNode) -> None:
    x, y, width, height = bounds
    route = f", {node.route}" if node.route else ""
    drawing.rect(bounds, f"node d-{node.decision}", f"{node.package}: {node.decision}{route}", round_by=4)
    sign = DECISIONS.get(node.decision, ("?", ""))[0]
    drawing.text(x + 8, y + height - 6, sign, f"sign d-{node.decision}")
    drawing.text(x + 26, y + height - 6, truncate(node.package, width - 32), tooltip=node.package)


def _draw_decision(drawing: Drawing, y: float, name: str, count: int) -> None:
    sign, meaning = DECISIONS[name]
    drawing.text(_DECISION - 4, y + 1, sign, f"sign d-{name}")
    drawing.text(_DECISION + 14, y + 1, f"{name} {count}", "strong")
    drawing.text(_DECISION + 14, y + 15, meaning, "soft small")


def _draw_narrow(width: float, description: str, families: list[tuple[str, list[DependencyNode]]]) -> str:
    """A tree: each family with its packages below, decisions at the right edge."""
    rows = sum(len(inside) for _, inside in families)
    drawing = Drawing(width, rows * _ROW + len(families) * (_ROW + _GAP), description)
    y = 0.0
    for family, inside in families:
        drawing.text(0, y + 16, truncate(family, width), "strong", tooltip=family)
        y += _ROW
        drawing.line([(4, y - 2), (4, y + (len(inside) - 0.5) * _ROW)], "link")
        for node in inside:
            drawing.line([(4, y + _ROW / 2), (14, y + _ROW / 2)], "link")
            _draw_package(drawing, (14, y + 2, width - 110, _ROW - 4), node)
            drawing.text(width, y + 16, node.decision, f"sign d-{node.decision}", anchor="end")
            y += _ROW
        y += _GAP
    return drawing.svg()
