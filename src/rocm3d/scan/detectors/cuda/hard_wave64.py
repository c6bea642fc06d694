"""A wave size of 64 for every ROCm target: correct on gfx9, wrong on RDNA. ROCm-only code is searched too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.guards import PreprocessorContext
from rocm3d.syntax.lane_masks import arguments, function_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_WIDTH_NAME = re.compile(r"k?_?(?:\w+_)?(?:warp_?|wave_?|wavefront_?)size$", re.IGNORECASE)
_SHUFFLE = re.compile(r"__shfl(?:_up|_down|_xor)?(_sync)?$")
_WIDTH = re.compile(r"\(?\s*64[uU]?\s*\)?$")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches wave-size constants of 64 and shuffles of width 64, each once, unless they are chosen by target."""
    if b"64" not in unit.data:
        return
    surroundings = PreprocessorContext.of(unit.data)
    reported: set[str] = set()
    for node in unit.nodes("preproc_def", "init_declarator", "optional_parameter_declaration", "call_expression"):
        text = _shuffle(unit, node) if node.type == "call_expression" else _constant(unit, node)
        offset = node.start_byte
        if (
            text is not None
            and text not in reported
            and surroundings.can_compile_for_rocm(offset)
            and not surroundings.is_target_specific(offset)
        ):
            reported.add(text)
            yield match_at(unit, node, text=text)


def _shuffle(unit: CudaUnit, call: Node) -> str | None:
    match, call_arguments = _SHUFFLE.match(function_name(unit, call)), arguments(call)
    if match is None or len(call_arguments) != (4 if match.group(1) else 3):
        return None
    return f"{match.group()} of width 64" if _WIDTH.match(unit.slice(call_arguments[-1])) else None


def _constant(unit: CudaUnit, node: Node) -> str | None:
    name = node.child_by_field_name("name" if node.type == "preproc_def" else "declarator")
    value = node.child_by_field_name("default_value" if node.type.startswith("optional") else "value")
    if name is None or value is None or not _WIDTH_NAME.match(unit.slice(name)):
        return None
    text = unit.slice(value).split("//")[0].strip()
    return f"{unit.slice(name)} = 64" if _WIDTH.match(text) else None


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    text = unit.data.lower() if b"64" in unit.data else b""
    return b"__shfl" in text or b"warp" in text or b"wave" in text


detector = Detector(__name__, code="CU105", unit_types=CudaUnit, find=find, prefilter=_can_match)
