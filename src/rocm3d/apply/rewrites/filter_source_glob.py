"""Excludes hipify-generated files from source globs on ROCm. Parameters: parts (of generated names)."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, run_guarded_edit, string_value, walk
from rocm3d.model.recipe import Parameters

_SOURCE_PATTERN = re.compile(r"\*\.?(c(c|pp|xx|\*|\[\w+\]|\?\?)?|\*)$")
_HIP_NAME = re.compile(r"(^|[*._/])hip([*._/]\w*)*$")
_TEXT_GLOBS = ("glob.glob", "glob.iglob", "glob", "iglob")
_PATH_GLOBS = (".glob", ".rglob")
_FOLDER_WALKS = ("os.walk", "os.listdir")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`glob.glob("csrc/*.cpp")` is filtered on ROCm; a script that handles such names itself stays unchanged."""
    if b"cpp_extension" not in data:
        return data
    glob_edit = _SourceGlobEdit(parameters)
    after = run_guarded_edit(data, glob_edit)
    if glob_edit.handles_hip_names:
        return data
    if after == data and glob_edit.walks_folders:
        raise RewriteRefusedError("the script collects its sources in a loop instead of a glob")
    return after


class _SourceGlobEdit(GuardedEdit):
    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.handles_hip_names = self.walks_folders = False

    def visit_SimpleString(self, node: cst.SimpleString) -> None:  # noqa: N802
        self.handles_hip_names |= bool(_HIP_NAME.search(string_value(node) or ""))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        function = dotted_name(original_node.func)
        self.walks_folders |= function in _FOLDER_WALKS
        if not (function in _TEXT_GLOBS or function.endswith(_PATH_GLOBS)) or self.is_guarded(original_node):
            return updated_node
        if not _SOURCE_PATTERN.search(_last_text(original_node)):
            return updated_node
        call = cst.Module([]).code_for_node(original_node)
        name = "path" if function in _TEXT_GLOBS else "str(path)"
        parts = ", ".join(f'"{part}"' for part in self.values("parts"))
        filtered = f"[path for path in {call} if not any(part in {name} for part in ({parts}))]"
        return self.choose(cst.parse_expression(filtered), updated_node, original_node)


def _last_text(call: cst.Call) -> str:
    """The end of the pattern: the last string in the first argument."""
    texts = [
        node.value if isinstance(node, cst.FormattedStringText) else string_value(node) or ""
        for node in (walk(call.args[0]) if call.args else ())
        if isinstance(node, (cst.SimpleString, cst.FormattedStringText))
    ]
    return texts[-1] if texts else ""
