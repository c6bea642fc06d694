"""What a module uses of a package, and whether our helper functions can replace all of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import (
    backend_branch,
    binds_torch,
    defined_names,
    helper_functions,
    parse_or_refuse,
    parse_statements,
    positional_parameters,
    with_callees,
)
from rocm3d.apply.rewrite import RewriteRefusedError

_IS_NONE = [m.ComparisonTarget(m.Is() | m.IsNot(), m.Name("None"))]


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

    def find_import(self, line: cst.CSTNode) -> cst.Import | cst.ImportFrom | None:
        """The import of the package, if it is the only statement of the line."""
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        statement = line.body[0]
        if isinstance(statement, cst.ImportFrom) and not statement.relative and statement.module is not None:
            return statement if _dotted_name(statement.module).split(".")[0] == self._root else None
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
        if isinstance(statement.names, cst.ImportStar) or _dotted_name(statement.module) != self.path:
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
        for call in m.findall(module, m.Call(func=m.Name() | m.Attribute())):
            assert isinstance(call, cst.Call)
            name = _dotted_name(call.func).split(".")[-1]
            if name not in self.functions:
                continue
            if sum(arg.keyword is None and not arg.star for arg in call.args) > len(positional_parameters(name)):
                raise RewriteRefusedError(f"{name} is called with more positional arguments than its replacement has")
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword else ""
                if keyword in self.refuse_keywords and not _can_be_off(arg.value):
                    raise RewriteRefusedError(f"torch's attention has no option {keyword}")


def replace_import(data: bytes, package: ReplacedPackage) -> bytes:
    """The module with its one unconditional import of the package turned into a branch by backend."""
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


def _attribute_names(module: cst.Module, bound: str, inner: list[str]) -> Iterator[str]:
    """The attributes read from a module object. Refused if the object itself is passed on."""
    name_node = m.Name(bound)
    known_uses = (
        m.Attribute(value=name_node)
        | m.Attribute(attr=name_node)
        | m.Arg(keyword=name_node)
        | m.AssignTarget(target=name_node)
        | m.ImportAlias(name=name_node) | m.AsName(name=name_node) | m.ImportFrom(module=name_node)
        | m.Comparison(left=name_node, comparisons=_IS_NONE)
    )  # fmt: skip
    if len(m.findall(module, name_node)) != len(m.findall(module, known_uses)):
        raise RewriteRefusedError(f"{bound} is passed on as an object: its use cannot be followed")
    for node in m.findall(module, m.Attribute()):
        parts = _dotted_name(node).split(".")
        if parts[0] != bound or len(parts) != len(inner) + 2:
            continue
        if parts[1:-1] != inner:
            raise RewriteRefusedError(f"uses more of {bound} than the functions that have a replacement")
        yield parts[-1]


def _can_be_off(value: cst.BaseExpression) -> bool:
    """Whether the value is a literal that means off, or an expression whose value is unknown."""
    try:
        literal = ast.literal_eval(cst.Module([]).code_for_node(value))
    except (ValueError, SyntaxError):
        return isinstance(value, (cst.Name, cst.Attribute, cst.IfExp, cst.Subscript))
    return not literal or literal in ((-1, -1), [-1, -1])


def _dotted_name(node: cst.CSTNode | None) -> str:
    """`a.b.c`; a node that is not a name becomes an empty part."""
    if isinstance(node, cst.Attribute):
        return f"{_dotted_name(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
