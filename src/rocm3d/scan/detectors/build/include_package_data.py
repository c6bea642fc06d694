"""include_package_data=True with a CUDA extension: it packages hipify's output, and with an old torch the build fails.

A warning if python_requires admits a Python version that only has such an old torch (terms), else a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from rocm3d.scan.build_script import defines_extension_package
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_OPTION = "include_package_data"


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the option if it is certainly True, as a keyword of setup() or as an entry of its dictionary."""
    if not defines_extension_package(unit) or b"CUDAExtension" not in unit.data:
        return
    options = {name: (node, value) for name, node, value in _options(unit)}
    if _OPTION in options and _is_on(unit, options[_OPTION][1]):
        line, column = unit.text.position(options[_OPTION][0].start_byte)
        python = string_value(unit, options["python_requires"][1]) if "python_requires" in options else None
        yield Match(line, column, severity=None if _admits_old_python(python or "", context) else "note")


def _options(unit: PythonUnit) -> Iterator[tuple[str, Node, Node]]:
    for node in unit.nodes("keyword_argument", "pair"):
        name = node.child_by_field_name("name") or node.child_by_field_name("key")
        value = node.child_by_field_name("value")
        if name is not None and value is not None and not unit.is_guarded(node):
            yield unit.slice(name).strip("\"'"), node, value


def _is_on(unit: PythonUnit, value: Node) -> bool:
    if value.type == "identifier":
        name = unit.slice(value)
        sides = [(n.child_by_field_name("left"), n.child_by_field_name("right")) for n in unit.nodes("assignment")]
        assigned = [
            right for left, right in sides if left is not None and right is not None and unit.slice(left) == name
        ]
        return bool(assigned) and all(right.type == "true" for right in assigned)
    return value.type == "true"


def _admits_old_python(text: str, context: DetectorContext) -> bool:
    """Whether the python_requires specifier contains one of the Python versions among the code's terms."""
    try:
        return bool(text) and any(SpecifierSet(text).contains(version) for version in context.code.terms)
    except ValueError:  # not a specifier, or a number with too many digits for int()
        return False


detector = Detector(__name__, code="BLD306", unit_types=PythonUnit, find=find, prefilter=(_OPTION.encode(),))
