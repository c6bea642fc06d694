"""A C++/CUDA file, and which of its places both a ROCm and a CUDA build see."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import tree_sitter_cuda
from tree_sitter import Language

from rocm3d.syntax.directives import closed
from rocm3d.syntax.guards import shared_ranges
from rocm3d.syntax.unit import ParsedUnit

SUFFIXES = frozenset(
    {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".cpp", ".cc", ".cxx", ".inl", ".ipp", ".tpp", ".txx"}
)


@dataclass(frozen=True)
class CudaUnit(ParsedUnit):
    """One C++ or CUDA file."""

    language: ClassVar[Language] = Language(tree_sitter_cuda.language())

    @property
    def source(self) -> bytes:
        """What follows an open comment is comment, as for a compiler."""
        return closed(self.data)

    @cached_property
    def _shared(self) -> list[tuple[int, int]]:
        return shared_ranges(self.data)

    def is_shared(self, offset: int) -> bool:
        """Whether ROCm and CUDA builds both see this place; a branch made for one of them is nobody's finding."""
        index = bisect_right(self._shared, (offset, len(self.data) + 1)) - 1
        return index >= 0 and self._shared[index][0] <= offset < self._shared[index][1]
