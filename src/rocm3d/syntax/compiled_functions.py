"""Functions whose source or bytecode something else compiles or reads: TorchScript, kernel languages, inspect.

They see a guard as text: TorchScript rejects a global bool, and a kernel language compiles both branches.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

# The last part of a decorator's name, as in `@torch.jit.script`, `@numba.njit`, `@wp.kernel`, `@ti.func`.
_COMPILERS = frozenset(
    {"jit", "njit", "script", "script_method", "script_if_tracing", "export", "kernel", "func", "pyfunc", "real_func",
     "rawkernel", "prim_func", "vectorize", "guvectorize", "stencil", "cfunc", "jit_module", "generated_jit"}
)  # fmt: skip
_EXCLUDED = frozenset({"ignore", "unused"})  # torch.jit.ignore: the function is not compiled
_SCRIPTING = frozenset({"script", "script_if_tracing", "ScriptFunction"})
_INSPECTING = frozenset({"getsource", "getsourcelines"})
_COMPILING = frozenset({"jit", "njit", "cfunc", "rawkernel"})  # of those, what is also called with a function
RELEVANT = re.compile(
    rb"\bscript(?:_if_tracing|_method)?\b|\bScriptModule\b|\bgetsource(?:lines)?\b|\bn?jit\b|\bcfunc\b|\brawkernel\b"
)
_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_ROUNDS = 20

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class CompiledNames:
    """Names of functions and classes that are compiled or read as source, and where; `*` is any name in that file."""

    scripted: dict[str, str] = field(default_factory=dict)
    inspected: dict[str, str] = field(default_factory=dict)
    wrappers: dict[str, str] = field(default_factory=dict)  # functions that compile or read what they are called with
    unknown: dict[str, str] = field(
        default_factory=dict
    )  # path -> location of a compiled object that has no name there

    def add(self, other: CompiledNames) -> None:
        for name, values in vars(other).items():
            for key, location in values.items():
                getattr(self, name).setdefault(key, location)


def compiled_names(path: str, tree: ast.Module, wrappers: dict[str, str] | None = None) -> CompiledNames:
    """Names that the calls and decorators of one file compile. `wrappers` are functions of the tree that do so."""
    return _CompileReader(path, tree, wrappers or {}).names


class _CompileReader(ast.NodeVisitor):
    def __init__(self, path: str, tree: ast.Module, wrappers: dict[str, str]) -> None:
        self.path, self.wrappers, self.names = path, wrappers, CompiledNames()
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self.values: dict[str, list[ast.expr]] = defaultdict(list)
        self.defined = {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}
        self.imported: dict[str, str] = {}  # local name -> name in its module
        self.other_names: set[str] = set()  # of compilers, in this file
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.values[target.id].append(node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        self.values[name.id].append(node.iter)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported |= {alias.asname or alias.name.split(".")[0]: alias.name for alias in node.names}
        self._find_other_names(tree)
        self.visit(tree)

    def _find_other_names(self, tree: ast.Module) -> None:
        """Other names of a compiler: `from torch.jit import script as compiled`, `fast = numba.njit(cache=True)`."""
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a.asname for a in node.names if a.asname and a.name in _SCRIPTING | _INSPECTING | _COMPILERS]
            elif isinstance(node, ast.Assign) and _is_compiler(node.value):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            else:
                continue
            for name in names:
                self.names.wrappers.setdefault(name, f"{self.path}:{node.lineno}")
                self.other_names.add(name)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = {last_name(part) for part in node.decorator_list}
        if decorators & (_SCRIPTING | {"script_method", "export"} | self.other_names | self.wrappers.keys()):
            self.names.scripted.setdefault(node.name, f"{self.path}:{node.lineno}")
        self.functions.append(node)
        self.generic_visit(node)
        self.functions.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if any(last_name(base) == "ScriptModule" for base in node.bases):
            self.names.scripted.setdefault(node.name, f"{self.path}:{node.lineno}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        location = f"{self.path}:{node.lineno}"
        is_torch_script = name in _SCRIPTING and ("jit" in ast.unparse(node.func) or isinstance(node.func, ast.Name))
        is_wrapper = name in self.wrappers or name in self.other_names
        if node.args and (is_torch_script or is_wrapper or name in _INSPECTING | _COMPILING):
            kind = self.names.inspected if name in _INSPECTING | _COMPILING else self.names.scripted
            self._record(node.args[0], kind, location, 3)
        if name == "map" and any(_is_compiler(argument) for argument in node.args[:1]):
            for argument in node.args[1:]:
                self._record(argument, self.names.scripted, location, 3)
        self.generic_visit(node)

    def _record(self, value: ast.expr, kind: dict[str, str], location: str, depth: int) -> None:
        """The functions and classes that an expression may be."""
        parameters = {
            argument.arg
            for function in self.functions
            for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        }
        names = {inner.id for inner in ast.walk(value) if isinstance(inner, ast.Name)}
        attributes = {
            inner.attr
            for inner in ast.walk(value)
            if isinstance(inner, ast.Attribute) and not isinstance(inner.value, ast.Call)
        }
        attributes |= {name for inner in ast.walk(value) if (name := _attribute_by_text(inner))}
        known = {self.imported.get(name, name) for name in names if name in self.defined or name in self.imported}
        known = {name.rpartition(".")[2] for name in known - {"torch"}}
        assigned = [item for name in names - parameters for item in self.values.get(name, ())] if depth else []
        if isinstance(value, ast.Name) and value.id in parameters and self.functions:
            self.names.wrappers.setdefault(self.functions[-1].name, location)
        elif not known and assigned:
            for item in assigned:
                self._record(item, kind, location, depth - 1)
            if not isinstance(value, ast.Name) and kind is self.names.scripted:
                kind.setdefault("forward", location)
        elif known:
            for name in known | attributes:
                kind.setdefault(name, location)
        elif kind is self.names.scripted:
            self.names.scripted.setdefault("forward", location)  # any module
        else:
            self.names.unknown.setdefault(self.path, location)


def _is_compiler(node: ast.expr) -> bool:
    """Whether an expression may be a compiler, as in `script if fast else identity` and numba.njit(cache=True)."""
    if isinstance(node, ast.IfExp):
        return _is_compiler(node.body) or _is_compiler(node.orelse)
    if isinstance(node, ast.BoolOp):
        return any(_is_compiler(value) for value in node.values)
    if isinstance(node, ast.Call):  # with options only, or partial(torch.jit.script, ...)
        is_partial = last_name(node.func) == "partial"
        return any(map(_is_compiler, node.args[:1])) if is_partial else not node.args and _is_compiler(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr in _COMPILING | _INSPECTING or (node.attr in _SCRIPTING and "jit" in ast.unparse(node.value))
    return isinstance(node, ast.Name) and node.id in _SCRIPTING | _COMPILING | _INSPECTING


def _attribute_by_text(node: ast.AST) -> str:
    """`name` of getattr(module, "name")."""
    if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
        name = node.args[1]
        return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
    return ""


def scripted_closure(
    roots: dict[str, str], files: dict[str, tuple[str, ...]], parsed: Callable[[str], ast.Module | None]
) -> dict[str, str]:
    """All names that TorchScript compiles with the roots, by their calls. `files` are those that define a name."""
    reached = dict(roots)
    pending = list(roots)
    bodies: dict[str, dict[str, list[ast.AST]]] = {}
    for _ in range(_ROUNDS):
        collected: dict[str, str] = {}
        for name in pending:
            for path in files.get(name, ()):
                if path not in bodies:
                    bodies[path] = _bodies(parsed(path))
                for node in bodies[path].get(name, ()):
                    for mentioned in _mentions(node):
                        if mentioned not in reached and mentioned in files:
                            collected[mentioned] = reached[name]
        if not collected:
            break
        reached |= collected
        pending = list(collected)
    return reached


def defined_names(data: bytes) -> set[str]:
    """Names of the functions and classes of a file, without a parse."""
    return {name.decode("utf-8", "replace") for name in _DEFINITION.findall(data)}


def _bodies(tree: ast.Module | None) -> dict[str, list[ast.AST]]:
    bodies: dict[str, list[ast.AST]] = defaultdict(list)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, _DEFINITIONS):
            bodies[node.name].append(node)
    return bodies


def _mentions(node: ast.AST) -> set[str]:
    """Names that a body may call: its names, methods of self, and functions of modules."""
    names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            names.add(inner.id)
        elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            names.add(inner.attr)
    return names


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name or of a call of one."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True)
class ChangedFunction:
    """A function whose signature or body an edit changed, with the functions and classes around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    around: tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.node.name, *(outer.name for outer in self.around))


def changed_functions(before: ast.Module, after: ast.Module) -> Iterator[ChangedFunction]:
    old = defaultdict(set)
    for names, node, _ in _functions(before, ()):
        old[names].add(_dump(node))
    for names, node, around in _functions(after, ()):
        if _dump(node) not in old[names]:
            yield ChangedFunction(node, around)


Around = tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ...]


def _functions(
    root: ast.AST, around: Around
) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef | ast.AsyncFunctionDef, Around]]:
    stack: list[tuple[ast.AST, Around]] = [(root, around)]
    while stack:
        node, outer = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (*(item.name for item in outer), node.name), node, outer
        inner = (*outer, node) if isinstance(node, _DEFINITIONS) else outer
        stack += [(child, inner) for child in ast.iter_child_nodes(node)]


def _dump(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Signature and body; decorators are evaluated by Python as any other expression."""
    return "\n".join([ast.dump(node.args), *(ast.dump(item) for item in node.body)])


def compiler_of(function: ChangedFunction, names: CompiledNames, path: str) -> str | None:
    """Why Python alone does not run a changed function; None if it does."""
    for node in (function.node, *function.around):
        decorators = [part for decorator in node.decorator_list for part in _decorator_names(decorator)]
        if _EXCLUDED.intersection(decorators):
            return None
        compiler = next((part for part in decorators if part in _COMPILERS or part in names.wrappers), None)
        if compiler is not None:
            return f"{node.name} is compiled from its source by @{compiler}"
        if isinstance(node, ast.ClassDef) and any(last_name(base) == "ScriptModule" for base in node.bases):
            return f"{node.name} is a ScriptModule"
    reasons = [
        f"{names.scripted[name]} compiles {name} with TorchScript" for name in function.names if name in names.scripted
    ]
    reasons += [
        f"{names.inspected[name]} reads the source of {name}" for name in function.names if name in names.inspected
    ]
    if path in names.unknown:
        reasons.append(f"{names.unknown[path]} compiles or reads the source of an object of this file")
    return next(iter(reasons), None)


def _decorator_names(decorator: ast.expr) -> Iterator[str]:
    """`script` of @torch.jit.script, and of a call as @partial(torch.jit.script, ...)."""
    yield last_name(decorator)
    if isinstance(decorator, ast.Call):
        yield from (last_name(argument) for argument in decorator.args if not isinstance(argument, ast.Constant))
