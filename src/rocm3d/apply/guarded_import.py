"""Imports chosen by backend: on ROCm a module defines the functions itself that it imports from a package elsewhere."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD

_BLANK = cst.EmptyLine(indent=False)


def parse_or_refuse(data: bytes) -> cst.Module:
    try:
        # Python's parser first: on deeply nested code it raises, while libcst overflows the stack and ends the process.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
        return cst.parse_module(data)
    except (cst.ParserSyntaxError, SyntaxError, LookupError, RecursionError, MemoryError, ValueError) as error:
        raise RewriteRefusedError(
            f"does not parse as Python: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from error


def binds_torch(statements: Sequence[cst.BaseStatement]) -> bool:
    """Whether one of these module-level statements unconditionally binds the name torch."""
    lines = [line for line in statements if isinstance(line, cst.SimpleStatementLine)]
    imports = [small for line in lines for small in line.body if isinstance(small, cst.Import)]
    names = [alias for small in imports for alias in small.names]
    return any(alias.evaluated_alias is None and alias.evaluated_name.split(".")[0] == "torch" for alias in names)


def checks_for_rocm(node: cst.CSTNode) -> bool:
    return bool(m.findall(node, m.Attribute(attr=m.Name("hip")) | m.Name(ROCM_FLAG)))


def backend_branch(rocm: Sequence[cst.BaseStatement], cuda: Sequence[cst.BaseStatement]) -> cst.If:
    """`if torch.version.hip is not None: rocm, else: cuda`."""
    return cst.If(
        test=cst.parse_expression(ROCM_GUARD),
        body=cst.IndentedBlock(list(rocm)),
        orelse=cst.Else(cst.IndentedBlock(list(cuda))),
    )


def parse_statements(text: str) -> list[cst.BaseStatement]:
    """Statements without own indentation and line ends: they take those of the module they are inserted into."""
    return [line for line in cst.parse_module(text).body if isinstance(line, cst.BaseStatement)]


def helper_functions(names: Sequence[str], following: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """The helper functions of these names with their callees, then the `following` statements."""
    required = with_callees(names)
    definitions = [
        f.with_changes(leading_lines=[_BLANK]) for name, f in _all_helper_functions().items() if name in required
    ]
    definitions[0] = definitions[0].with_changes(leading_lines=[])
    return [*definitions, *(line.with_changes(leading_lines=[_BLANK] * (not at)) for at, line in enumerate(following))]


def with_callees(names: Sequence[str]) -> set[str]:
    closure: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in closure:
            closure.add(name)
            pending += [
                called
                for called in map(_called_name, m.findall(_all_helper_functions()[name], m.Call()))
                if called in _all_helper_functions()
            ]
    return closure


def defined_names(module: cst.Module) -> set[str]:
    """Names of the module-level functions and classes."""
    return {line.name.value for line in module.body if isinstance(line, (cst.FunctionDef, cst.ClassDef))}


def positional_parameters(name: str) -> tuple[str, ...]:
    return tuple(parameter.name.value for parameter in _all_helper_functions()[name].params.params)


@cache
def _all_helper_functions() -> dict[str, cst.FunctionDef]:
    texts = sorted((Path(__file__).parent / "templates").glob("*.py.txt"))
    lines = [line for text in texts for line in parse_statements(text.read_text("utf-8"))]
    return {line.name.value: line for line in lines if isinstance(line, cst.FunctionDef)}


def _called_name(call: cst.CSTNode) -> str:
    function = call.func if isinstance(call, cst.Call) else None
    return function.value if isinstance(function, cst.Name) else ""
