"""Replaces functions of a package by torch's on ROCm, where the package is not imported.

Parameters: package, calls (supported functions), refuse_keywords. A use that torch cannot replace is refused.
"""

from __future__ import annotations

from rocm3d.apply.package_use import ReplacedPackage, backend_branch, binds_torch, helper_functions, parse_statements
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import parse_or_refuse
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An unconditional import becomes a choice by backend; one in a try, a condition or a function stays unchanged."""
    package = ReplacedPackage.from_parameters(parameters)
    if package.path.split(".")[0].encode() not in data:
        return data
    module = parse_or_refuse(data)
    imports = [(index, statement) for index, line in enumerate(module.body) if (statement := package.find_import(line))]
    if not imports:
        return data
    if len(imports) > 1:
        raise RewriteRefusedError("the module imports the package more than once")
    (index, statement), line = imports[0], module.body[imports[0][0]]
    if not binds_torch(module.body[:index]):
        raise RewriteRefusedError("torch is not imported unconditionally before the package")
    imported = package.imported_functions(module, statement)
    if not imported.functions:
        raise RewriteRefusedError("the module uses nothing of the package")
    package.check_calls(module)
    branch = backend_branch(
        helper_functions(imported.functions, parse_statements(imported.bindings)), [line.with_changes(leading_lines=[])]
    )
    branch = branch.with_changes(leading_lines=line.leading_lines)
    return module.with_changes(body=[*module.body[:index], branch, *module.body[index + 1 :]]).bytes
