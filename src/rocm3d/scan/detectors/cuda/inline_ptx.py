"""Inline PTX, also in macro bodies: clang cannot assemble NVIDIA instructions for AMD GPUs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

# PTX instructions name a type or memory space after a dot; x86 and ARM assembly in host code does not.
_PTX = re.compile(
    r"(?<![\w.])[a-z]\w*(?:\.\w+)*\.(?:[usbfe]\d+\w*|bf16\w*|tf32|pred|sync|async|global|shared|gl|cta|sys)\b"
)
_BARE_INSTRUCTION = re.compile(r"\s*(?:exit|trap|brkpt|ret|discard)\s*;\s*$")
_AMD_INSTRUCTION = re.compile(r"(?<![\w.%])(?:[sv]|ds|global|buffer|flat|scratch|image)_\w")
_FIRST_INSTRUCTION = re.compile(r"(?:^|[\s;{}])((?!reg\b)[a-z]\w*(?:\.\w+)*)(?=[\s;])")
_REGISTER = re.compile(r"%%?([a-z]\w+)")
_OPEN, _CLOSE = b"void f() {", b"\n;}"  # a macro body is parsed between these
_NO_COUNTERPART = "none is known, so write it by hand"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches PTX, and assembly in device functions that is not AMD's."""
    for parsed_unit, node, offset in _assembly(unit):
        position = node.start_byte + offset
        code = _code(parsed_unit, node)
        if not unit.is_shared(position) or not code.strip():
            continue
        if (
            _PTX.search(code)
            or _BARE_INSTRUCTION.match(code)
            or (_is_in_device_function(node) and not _AMD_INSTRUCTION.search(code))
        ):
            line, column = unit.text.position(position)
            yield Match(line, column, {"instruction": _instruction(code), "counterpart": _counterpart(code, context)})


def _assembly(unit: CudaUnit) -> Iterator[tuple[CudaUnit, Node, int]]:
    """Yields each asm node, the unit that it was parsed in, and the offset of that unit in the file."""
    for node in unit.nodes("gnu_asm_expression", "preproc_def", "preproc_function_def"):
        text = node.child_by_field_name("value")
        if node.type == "gnu_asm_expression":
            yield unit, node, 0
        elif text is not None and "asm" in unit.slice(text):
            macro_unit = CudaUnit("", _OPEN + unit.data[text.start_byte : text.end_byte] + _CLOSE)
            for inner in macro_unit.nodes("gnu_asm_expression"):
                yield macro_unit, inner, text.start_byte - len(_OPEN)


def _code(unit: CudaUnit, node: Node) -> str:
    """The assembly text: adjacent strings joined, line ends replaced by spaces."""
    text = node.child_by_field_name("assembly_code")
    if text is None:
        return ""
    parts = re.findall(r'"((?:\\.|[^"\\])*)"', unit.slice(text), re.DOTALL)
    return re.sub(r"\\[nt]", " ", "".join(parts) if parts else unit.slice(text))


def _is_in_device_function(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type not in ("function_definition", "lambda_expression"):
        above = above.parent
    return above is not None and any(child.type in ("__device__", "__global__") for child in above.children)


def _instruction(code: str) -> str:
    """The first instruction, with the special register if it is a mov."""
    typed = _PTX.search(code)
    first = _FIRST_INSTRUCTION.search(code)
    registers = [name for name in _REGISTER.findall(code) if name not in ("p", "r")]
    name = typed.group(0) if typed else first.group(1) if first else "asm"
    return f"{name} %{registers[0]}" if name.startswith("mov") and registers else name


def _counterpart(code: str, context: DetectorContext) -> str:
    plain = code.replace("%%", "%")
    known = [text for term, text in context.code.terms.items() if re.search(rf"(?<![\w.]){re.escape(term)}", plain)]
    return known[0] if known else _NO_COUNTERPART


detector = Detector(__name__, code="CU401", unit_types=CudaUnit, find=find, prefilter=(b"asm",))
