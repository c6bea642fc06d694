"""Excludes hipify-generated files from source globs on ROCm. Parameters: parts (of generated names)."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_SOURCE_PATTERN = re.compile(r"\*\.?(c(c|pp|xx|\*|\[\w+\]|\?\?)?|\*)$")
_HIP_NAME = re.compile(r"(^|[*._/])hip([*._/]\w*)*$")
_TEXT_GLOB = m.Attribute(value=m.Name("glob"), attr=m.Name("glob") | m.Name("iglob")) | m.Name("glob") | m.Name("iglob")
_PATH_GLOB = m.Attribute(attr=m.Name("glob") | m.Name("rglob"))
_FOLDER_WALK = m.Attribute(value=m.Name("os"), attr=m.Name("walk") | m.Name("listdir"))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`glob.glob("csrc/*.cpp")` is filtered on ROCm; a script that handles such names itself stays unchanged."""
    if b"cpp_extension" not in data:
        return data
    glob_edit = _SourceGlobEdit(list_parameter(parameters, "parts"))
    after = run_guarded_edit(data, glob_edit)
    if glob_edit.handles_hip_names:
        return data
    if after == data and glob_edit.walks_folders:
        raise RewriteRefusedError("the script collects its sources in a loop instead of a glob")
    return after


class _SourceGlobEdit(GuardedEdit):
    def __init__(self, parts: tuple[str, ...]) -> None:
        super().__init__()
        self.parts = ", ".join(f'"{part}"' for part in parts)
        self.handles_hip_names = self.walks_folders = False

    def visit_SimpleString(self, node: cst.SimpleString) -> None:  # noqa: N802
        self.handles_hip_names |= bool(_HIP_NAME.search(string_value(node) or ""))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        self.walks_folders |= m.matches(original_node.func, _FOLDER_WALK)
        is_text_glob = m.matches(original_node.func, _TEXT_GLOB)
        if not (is_text_glob or m.matches(original_node.func, _PATH_GLOB)) or self.is_guarded(original_node):
            return updated_node
        if not _SOURCE_PATTERN.search(_last_text(original_node)):
            return updated_node
        call = cst.Module([]).code_for_node(original_node)
        name = "path" if is_text_glob else "str(path)"
        filtered = f"[path for path in {call} if not any(part in {name} for part in ({self.parts}))]"
        return backend_expression(cst.parse_expression(filtered), updated_node, self, original_node)


def _last_text(call: cst.Call) -> str:
    """The end of the pattern: the last string in the first argument."""
    strings = m.findall(call.args[0], m.SimpleString() | m.FormattedStringText()) if call.args else []
    last = strings[-1] if strings else None
    if isinstance(last, cst.FormattedStringText):
        return last.value
    return string_value(last) or "" if isinstance(last, cst.SimpleString) else ""
