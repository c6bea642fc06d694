"""Sources collected with a glob: after the first build the glob also matches the copies that hipify wrote.

hipify turns a .cu file into a .hip file, which the globs do not match, but a .cpp file into another .cpp file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.build_script import defines_extension_package
from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_SOURCE_PATTERN = re.compile(r"\*\.?(c(c|pp|xx|\*|\[\w+\]|\?\?)?|\*)?$")
_SUFFIX = re.compile(r"\.?(c|cc|cpp|cxx)$")
_HIP_EXCLUSION = re.compile(r"(^|[*._/])hip([*._/]\w*)*$")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls among the code's terms with a source pattern, in a script that never excludes hip names."""
    if not defines_extension_package(unit) or any(
        _HIP_EXCLUSION.search(string_value(unit, node) or "") for node in unit.nodes("string")
    ):
        return
    methods = {term.rsplit(".", 1)[-1] for term in context.code.terms}
    by_suffix = _filters_by_suffix(unit)
    for call in unit.nodes("call"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = "" if function is None else unit.slice(function).rsplit(".", 1)[-1]
        if arguments is None or name not in methods:
            continue
        collects = by_suffix if name in ("walk", "listdir") else _collects_sources(unit, arguments)
        if collects:
            yield match_at(unit, call, call=re.sub(r"\s+", " ", unit.slice(call)))


def _collects_sources(unit: PythonUnit, arguments: Node) -> bool:
    texts = [unit.slice(node).lstrip("rRbBuUfF").strip("\"'") for node in walk(arguments) if node.type == "string"]
    return bool(texts) and bool(_SOURCE_PATTERN.search(texts[-1])) and texts[-1] not in ("*", "**")


def _filters_by_suffix(unit: PythonUnit) -> bool:
    """Whether the script filters names by the suffix of a source that hipify copies."""
    for call in unit.nodes("call"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or not unit.slice(function).endswith(".endswith"):
            continue
        if any(_SUFFIX.match(string_value(unit, node) or "") for node in walk(arguments)):
            return True
    return False


detector = Detector(__name__, code="BLD301", unit_types=PythonUnit, find=find)
