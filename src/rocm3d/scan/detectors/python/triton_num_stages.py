"""Launch options of a Triton kernel tuned for NVIDIA GPUs: deep pipelines, clusters, register limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, ancestors, imports_triton

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_MAX_PORTABLE = {"num_stages": 2, "num_ctas": 1}
_MAX_DIGITS = 9  # longer literals are not converted, because int() limits the number of digits


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first use of each option. In an autotune configuration it is a note: the tuner may drop it."""
    if not imports_triton(unit):
        return
    first: dict[str, tuple[Node, str, bool]] = {}
    for node in unit.nodes("keyword_argument"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        option = "" if name is None else unit.slice(name)
        if (
            value is None
            or option not in context.code.terms
            or unit.is_guarded(node)
            or not _exceeds_portable_limit(unit, option, value)
        ):
            continue
        is_choice = _is_autotune_config(unit, node)
        if option not in first or (first[option][2] and not is_choice):
            first[option] = node, unit.slice(value), is_choice
    for option, (node, text, is_choice) in first.items():
        match = match_at(unit, node, option=option, value=text)
        yield Match(match.line, match.column, match.facts, severity="note" if is_choice else None)


def _exceeds_portable_limit(unit: PythonUnit, option: str, value: Node) -> bool:
    """Whether a literal exceeds what every backend supports. The number of warps alone is fine."""
    if option == "num_warps":
        return False
    if value.type == "true":
        return True
    number = unit.slice(value) if value.type == "integer" else ""
    return number.isdigit() and (len(number) > _MAX_DIGITS or int(number) > _MAX_PORTABLE.get(option, 0))


def _is_autotune_config(unit: PythonUnit, node: Node) -> bool:
    call = next((above for above in ancestors(node) if above.type == "call"), None)
    function = None if call is None else call.child_by_field_name("function")
    return function is not None and unit.slice(function).endswith("Config")


detector = Detector(__name__, code="PY501", unit_types=PythonUnit, find=find)
