"""Sets the width of cub warp collectives on ROCm to that of the CUDA code, if the code sets none.

Parameters: templates, width, refuse_if_only (names with the same finding code that need a manual edit), guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.apply.macro_aliases import MacroAlias, guard_or_alias
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`cub::WarpReduce<T>` with one template argument gets the width as a second one."""
    unit = CudaUnit("", data)
    argument_ends = list(_argument_ends(unit, list_parameter(parameters, "templates")))
    offsets = [offset for offset in argument_ends if unit.is_shared(offset)]
    if not offsets and not argument_ends:
        others = [name for name in list_parameter(parameters, "refuse_if_only") if name.encode() in blanked(data)]
        if others:
            raise RewriteRefusedError(f"{others[0]} needs a manual edit: this file has no collective without a width")
    if not offsets:
        return data
    alias = MacroAlias("CUB_WARP_WIDTH", cuda="", rocm=f", {parameters['width']}")
    return guard_or_alias(data, [(offset, offset) for offset in offsets], alias, parameters)


def _argument_ends(unit: CudaUnit, templates: tuple[str, ...]) -> Iterator[int]:
    """Offset of the `>` of each use with one template argument. Searches the text, so that macros are covered."""
    names = b"|".join(re.escape(name.encode()) for name in templates)
    code = blanked(unit.data)
    for match in re.finditer(rb"(?<![\w:])(?:::\s*)?(?:" + names + rb")\s*<", code):
        end = _end_of_only_argument(code, match.end())
        if end is not None and b"ROCM3D_" not in code[match.end() : end]:
            yield end


def _end_of_only_argument(code: bytes, start: int) -> int | None:
    """Where a single template argument ends; None for several arguments, or if `<` opens no template."""
    depth = 0
    for offset in range(start, min(len(code), start + 400)):
        character = code[offset : offset + 1]
        if character in (b";", b"{", b"}") or (character == b"," and depth == 0):
            return None
        if character == b">" and depth == 0:
            return offset
        depth += {b"<": 1, b"(": 1, b">": -1, b")": -1}.get(character, 0)
    return None
