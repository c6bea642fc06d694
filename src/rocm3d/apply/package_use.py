"""What a module uses of a package, and whether our helper functions can replace all of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import (
    by_backend,
    defined,
    functions,
    has_torch,
    parameters_of,
    parsed,
    statements,
    with_callees,
)
from rocm3d.apply.rewrite import Refuse

_NONE = [m.ComparisonTarget(m.Is() | m.IsNot(), m.Name("None"))]


@dataclass(frozen=True)
class Use:
    """The functions that an import provides, and the lines that bind our helpers to the same names."""

    functions: tuple[str, ...]
    instead: str


@dataclass(frozen=True)
class Package:
    """The package as the recipe describes it. `path` is the module whose `functions` have a replacement."""

    path: str
    functions: tuple[str, ...]
    refuse_keywords: tuple[str, ...]

    def imports(self, line: cst.CSTNode) -> cst.Import | cst.ImportFrom | None:
        """The import of the package, if it is the only statement of the line."""
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        small = line.body[0]
        if isinstance(small, cst.ImportFrom) and not small.relative and small.module is not None:
            return small if _dotted(small.module).split(".")[0] == self._root else None
        names = [alias.evaluated_name for alias in small.names] if isinstance(small, cst.Import) else []
        return small if isinstance(small, cst.Import) and any(n.split(".")[0] == self._root for n in names) else None

    def use(self, module: cst.Module, taken: cst.Import | cst.ImportFrom) -> Use:
        """The replacement of an import. Refused if the module uses more than the known functions."""
        use = self._names(taken) if isinstance(taken, cst.ImportFrom) else self._module(module, taken)
        clashes = defined(module) & with_callees(use.functions)
        if clashes:
            raise Refuse(f"the module already defines {min(clashes)}")
        return use

    @property
    def _root(self) -> str:
        return self.path.split(".")[0]

    def _names(self, taken: cst.ImportFrom) -> Use:
        if isinstance(taken.names, cst.ImportStar) or _dotted(taken.module) != self.path:
            raise Refuse(f"imports more of {self._root} than the functions that have a replacement")
        names = {alias.evaluated_name: alias.evaluated_alias for alias in taken.names}
        self._known(names)
        aliases = [f"{bound} = {name}\n" for name, bound in names.items() if bound is not None and bound != name]
        return Use(tuple(names), "".join(aliases))

    def _module(self, module: cst.Module, taken: cst.Import) -> Use:
        if len(taken.names) != 1:
            raise Refuse(f"one import statement imports {self._root} and other packages")
        alias = taken.names[0]
        if alias.evaluated_name not in (self._root, self.path):
            raise Refuse(f"imports more of {self._root} than the functions that have a replacement")
        bound = alias.evaluated_alias or self._root
        inner = [] if alias.evaluated_alias and alias.evaluated_name == self.path else self.path.split(".")[1:]
        names = tuple(sorted(set(_attributes(module, bound, inner))))
        self._known(dict.fromkeys(names))
        value = f"SimpleNamespace({', '.join(f'{name}={name}' for name in names)})"
        for part in reversed(inner):
            value = f"SimpleNamespace({part}={value})"
        return Use(names, f"from types import SimpleNamespace\n{bound} = {value}\n" if names else "")

    def _known(self, names: dict[str, str | None] | dict[str, None]) -> None:
        unknown = sorted(set(names) - set(self.functions))
        if unknown:
            raise Refuse(f"{self._root}: no replacement for {', '.join(unknown)}")

    def check_calls(self, module: cst.Module) -> None:
        """Refuse calls with arguments that our helper function does not support."""
        for call in m.findall(module, m.Call(func=m.Name() | m.Attribute())):
            assert isinstance(call, cst.Call)
            name = _dotted(call.func).split(".")[-1]
            if name not in self.functions:
                continue
            if sum(arg.keyword is None and not arg.star for arg in call.args) > len(parameters_of(name)):
                raise Refuse(f"{name} is called with more positional arguments than its replacement has")
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword else ""
                if keyword in self.refuse_keywords and not _may_be_off(arg.value):
                    raise Refuse(f"torch's attention has no option {keyword}")


def replaced(data: bytes, package: Package) -> bytes:
    """The module with its one unconditional import of the package turned into a branch by backend."""
    if package.path.split(".")[0].encode() not in data:
        return data
    module = parsed(data)
    taken = [(index, found) for index, line in enumerate(module.body) if (found := package.imports(line))]
    if not taken:
        return data
    if len(taken) > 1:
        raise Refuse("the module imports the package more than once")
    (index, found), line = taken[0], module.body[taken[0][0]]
    if not has_torch(module.body[:index]):
        raise Refuse("torch is not imported unconditionally before the package")
    use = package.use(module, found)
    if not use.functions:
        raise Refuse("the module uses nothing of the package")
    package.check_calls(module)
    chosen = by_backend(functions(use.functions, statements(use.instead)), [line.with_changes(leading_lines=[])])
    chosen = chosen.with_changes(leading_lines=line.leading_lines)
    return module.with_changes(body=[*module.body[:index], chosen, *module.body[index + 1 :]]).bytes


def _attributes(module: cst.Module, bound: str, inner: list[str]) -> Iterator[str]:
    """The attributes read from a module object. Refused if the object itself is passed on."""
    here = m.Name(bound)
    explained = (
        m.Attribute(value=here) | m.Attribute(attr=here) | m.Arg(keyword=here) | m.AssignTarget(target=here)
        | m.ImportAlias(name=here) | m.AsName(name=here) | m.ImportFrom(module=here)
        | m.Comparison(left=here, comparisons=_NONE)
    )  # fmt: skip
    if len(m.findall(module, here)) != len(m.findall(module, explained)):
        raise Refuse(f"{bound} is passed on as an object: its use cannot be followed")
    for node in m.findall(module, m.Attribute()):
        parts = _dotted(node).split(".")
        if parts[0] != bound or len(parts) != len(inner) + 2:
            continue
        if parts[1:-1] != inner:
            raise Refuse(f"uses more of {bound} than the functions that have a replacement")
        yield parts[-1]


def _may_be_off(value: cst.BaseExpression) -> bool:
    """Whether the value is a literal that means off, or an expression whose value is unknown."""
    try:
        literal = ast.literal_eval(cst.Module([]).code_for_node(value))
    except (ValueError, SyntaxError):
        return isinstance(value, (cst.Name, cst.Attribute, cst.IfExp, cst.Subscript))
    return not literal or literal in ((-1, -1), [-1, -1])


def _dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c`; a node that is not a name becomes an empty part."""
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
