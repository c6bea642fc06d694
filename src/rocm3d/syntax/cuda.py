"""A C++ or CUDA source file, and which parts both ROCm and CUDA builds compile."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import tree_sitter_cuda
from tree_sitter import Language

from rocm3d.syntax.directives import with_closed_comment
from rocm3d.syntax.guards import shared_ranges
from rocm3d.syntax.unit import ParsedUnit

CUDA_SUFFIXES = frozenset(
    {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".cpp", ".cc", ".cxx", ".inl", ".ipp", ".tpp", ".txx"}
)


@dataclass(frozen=True)
class CudaUnit(ParsedUnit):
    language: ClassVar[Language] = Language(tree_sitter_cuda.language())

    @property
    def source(self) -> bytes:
        """The bytes to parse; an unclosed comment extends to the end of the file, as for a compiler."""
        return with_closed_comment(self.data)

    @cached_property
    def _shared_ranges(self) -> list[tuple[int, int]]:
        return shared_ranges(self.data)

    def is_shared(self, offset: int) -> bool:
        """Whether both ROCm and CUDA builds compile this offset; code for only one of them gets no finding."""
        index = bisect_right(self._shared_ranges, (offset, len(self.data) + 1)) - 1
        return index >= 0 and self._shared_ranges[index][0] <= offset < self._shared_ranges[index][1]


def defined_names(unit: CudaUnit, *kinds: str) -> frozenset[str]:
    """The names that the file defines or declares by nodes of these types: macros, or declarators of functions."""
    fields = {"function_declarator": "declarator"}
    names = (node.child_by_field_name(fields.get(node.type, "name")) for node in unit.nodes(*kinds))
    return frozenset(unit.slice(name) for name in names if name is not None)
