"""Includes of C++ headers among the rule's terms.

Parameter `by`: `path` (default) compares the whole path; `file_name` its last part, in any folder except `./`.
Facts: header, name, why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import DetectorContext, Match, Matcher, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    by_file_name = context.parameters.get("by") == "file_name"
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        if path is None or not unit.is_shared(include.start_byte):
            continue
        header = unit.slice(path).strip('<>"')
        term = header.rsplit("/", 1)[-1] if by_file_name else header
        if term in context.code.terms and not (by_file_name and unit.slice(path).startswith('"./')):
            yield match_at(unit, include, header=header, name=header, why=context.code.terms[term])


matcher = Matcher(unit_types=CudaUnit, find=find, prefilter=contains_term, parameters={"by": ("path", "file_name")})
