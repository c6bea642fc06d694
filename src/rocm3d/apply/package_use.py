"""Imports of a package that are chosen by backend: on ROCm the module defines the functions itself.

Refused unless our helper functions can replace everything that the module uses of the package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import compares_with_none, dotted_name, keyword_name, last_name, walk
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_GUARD

_BLANK = cst.EmptyLine(indent=False)


@dataclass(frozen=True)
class ImportedFunctions:
    """The functions that an import provides, and the lines that bind our helpers to the same names."""

    functions: tuple[str, ...]
    bindings: str


@dataclass(frozen=True)
class ReplacedPackage:
    """The package as the recipe describes it. `path` is the module whose `functions` have a replacement."""

    path: str
    functions: tuple[str, ...]
    refuse_keywords: tuple[str, ...]

    @classmethod
    def from_parameters(cls, parameters: Parameters) -> ReplacedPackage:
        return cls(
            str(parameters["package"]),
            list_parameter(parameters, "calls"),
            list_parameter(parameters, "refuse_keywords"),
        )

    def find_import(self, line: cst.CSTNode) -> cst.Import | cst.ImportFrom | None:
        """The import of the package, if it is the only statement of the line."""
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        statement = line.body[0]
        if isinstance(statement, cst.ImportFrom) and not statement.relative and statement.module is not None:
            return statement if dotted_name(statement.module).split(".")[0] == self._root else None
        names = [alias.evaluated_name for alias in statement.names] if isinstance(statement, cst.Import) else []
        return (
            statement
            if isinstance(statement, cst.Import) and any(n.split(".")[0] == self._root for n in names)
            else None
        )

    def imported_functions(self, module: cst.Module, statement: cst.Import | cst.ImportFrom) -> ImportedFunctions:
        """The replacement of an import. Refused if the module uses more than the known functions."""
        imported = (
            self._from_import(statement)
            if isinstance(statement, cst.ImportFrom)
            else self._plain_import(module, statement)
        )
        clashes = defined_names(module) & with_callees(imported.functions)
        if clashes:
            raise RewriteRefusedError(f"the module already defines {min(clashes)}")
        return imported

    @property
    def _root(self) -> str:
        return self.path.split(".")[0]

    def _from_import(self, statement: cst.ImportFrom) -> ImportedFunctions:
        if isinstance(statement.names, cst.ImportStar) or dotted_name(statement.module) != self.path:
            raise RewriteRefusedError(f"imports more of {self._root} than the functions that have a replacement")
        names = {alias.evaluated_name: alias.evaluated_alias for alias in statement.names}
        self._require_known(names)
        aliases = [f"{bound} = {name}\n" for name, bound in names.items() if bound is not None and bound != name]
        return ImportedFunctions(tuple(names), "".join(aliases))

    def _plain_import(self, module: cst.Module, statement: cst.Import) -> ImportedFunctions:
        if len(statement.names) != 1:
            raise RewriteRefusedError(f"one import statement imports {self._root} and other packages")
        alias = statement.names[0]
        if alias.evaluated_name not in (self._root, self.path):
            raise RewriteRefusedError(f"imports more of {self._root} than the functions that have a replacement")
        bound = alias.evaluated_alias or self._root
        inner = [] if alias.evaluated_alias and alias.evaluated_name == self.path else self.path.split(".")[1:]
        names = tuple(sorted(set(_attribute_names(module, bound, inner))))
        self._require_known(dict.fromkeys(names))
        value = f"SimpleNamespace({', '.join(f'{name}={name}' for name in names)})"
        for part in reversed(inner):
            value = f"SimpleNamespace({part}={value})"
        return ImportedFunctions(names, f"from types import SimpleNamespace\n{bound} = {value}\n" if names else "")

    def _require_known(self, names: dict[str, str | None] | dict[str, None]) -> None:
        unknown = sorted(set(names) - set(self.functions))
        if unknown:
            raise RewriteRefusedError(f"{self._root}: no replacement for {', '.join(unknown)}")

    def check_calls(self, module: cst.Module) -> None:
        """Refuse calls with arguments that our helper function does not support."""
        calls = [node for node in walk(module) if isinstance(node, cst.Call)]
        for call, name in [(call, name) for call in calls if (name := last_name(call.func)) in self.functions]:
            if sum(arg.keyword is None and not arg.star for arg in call.args) > len(positional_parameters(name)):
                raise RewriteRefusedError(f"{name} is called with more positional arguments than its replacement has")
            for arg in call.args:
                if keyword_name(arg) in self.refuse_keywords and not _can_be_off(arg.value):
                    raise RewriteRefusedError(f"torch's attention has no option {keyword_name(arg)}")


def _attribute_names(module: cst.Module, bound: str, inner: list[str]) -> Iterator[str]:
    """The attributes read from a module object. Refused if the object itself is passed on."""
    nodes = list(walk(module))
    uses = [node for node in nodes if isinstance(node, cst.Name) and node.value == bound]
    if len(uses) != sum(_is_known_use(node, bound) for node in nodes):
        raise RewriteRefusedError(f"{bound} is passed on as an object: its use cannot be followed")
    for node in nodes:
        parts = dotted_name(node).split(".") if isinstance(node, cst.Attribute) else [""]
        if parts[0] != bound or len(parts) != len(inner) + 2:
            continue
        if parts[1:-1] != inner:
            raise RewriteRefusedError(f"uses more of {bound} than the functions that have a replacement")
        yield parts[-1]


def _is_known_use(node: cst.CSTNode, name: str) -> bool:
    """Whether the node contains the name in a way that does not pass the object on."""
    match node:
        case cst.Attribute(value=first, attr=second):
            return name in (dotted_name(first), second.value)
        case (
            cst.Arg(keyword=used)
            | cst.AssignTarget(target=used)
            | cst.ImportAlias(name=used)
            | cst.AsName(name=used)
            | cst.ImportFrom(module=used)
        ):
            return dotted_name(used) == name
        case cst.Comparison(left=used):
            return dotted_name(used) == name and compares_with_none(node)
    return False


def _can_be_off(value: cst.BaseExpression) -> bool:
    """Whether the value is a literal that means off, or an expression whose value is unknown."""
    try:
        literal = ast.literal_eval(cst.Module([]).code_for_node(value))
    except (ValueError, SyntaxError):
        return isinstance(value, (cst.Name, cst.Attribute, cst.IfExp, cst.Subscript))
    return not literal or literal in ((-1, -1), [-1, -1])


def binds_torch(statements: Sequence[cst.BaseStatement]) -> bool:
    """Whether one of these module-level statements unconditionally binds the name torch."""
    lines = [line for line in statements if isinstance(line, cst.SimpleStatementLine)]
    imports = [small for line in lines for small in line.body if isinstance(small, cst.Import)]
    names = [alias for small in imports for alias in small.names]
    return any(alias.evaluated_alias is None and alias.evaluated_name.split(".")[0] == "torch" for alias in names)


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
            calls = [node for node in walk(_all_helper_functions()[name]) if isinstance(node, cst.Call)]
            pending += [called for call in calls if (called := dotted_name(call.func)) in _all_helper_functions()]
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
