"""Options of torch.compile that were chosen on NVIDIA GPUs. The code's terms list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import ImportedNames, PythonUnit, environment_writes, keyword_argument, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches options enabled in inductor's configuration, in `options=` of compile, or through the environment."""
    if not any(marker in unit.data for marker in (b"inductor", b"INDUCTOR", b"options")):
        return
    for option, value, node in (*_config_assignments(unit), *_compile_options(unit), *environment_writes(unit)):
        if option in context.code.terms and not _is_off(unit, value) and not unit.is_guarded(node):
            yield match_at(unit, node, option=option, why=context.code.terms[option])


def _config_assignments(unit: PythonUnit) -> Iterator[tuple[str, Node, Node]]:
    names = ImportedNames(unit)
    for node in unit.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        _, config, option = names.full_name(left).partition("_inductor.config.")
        if config and right is not None:
            yield option, right, node


def _compile_options(unit: PythonUnit) -> Iterator[tuple[str, Node, Node]]:
    for call in unit.nodes("call"):
        function, options = call.child_by_field_name("function"), keyword_argument(unit, call, "options")
        if function is None or options is None or not unit.slice(function).endswith("compile"):
            continue
        for pair in options.named_children:
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if pair.type == "pair" and key is not None and value is not None:
                yield string_value(unit, key) or "", value, pair


def _is_off(unit: PythonUnit, value: Node) -> bool:
    return value.type in ("false", "none") or unit.slice(value).strip("\"'") in ("0", "")


detector = Detector(__name__, code="PY302", unit_types=PythonUnit, find=find)
