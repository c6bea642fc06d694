"""What the Python modules of a tree do to each other: star imports, patches of names, stand-ins for torch."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rocm3d.syntax.python_fold import ROCM_FLAG, walk_scope

GUARD_NAMES = (ROCM_FLAG, "torch")
_VERSION_MODULE = ("torch.version", 0)
_STUB_NAMES = frozenset({"torch", "torch.version"})
_PATCHED = re.compile(r"^([\w.]+)\.(torch|is_rocm)(?:\.version(?:\.hip)?)?$")
# Prefilter: a module without any of these words has nothing that is recorded here.
RELEVANT = re.compile(
    rb"import[ \t(]*\*|\bis_rocm\b|version\.hip|\bsys\.modules\b|__dict__|getmembers|\b(?:vars|dir)\(\s*\w"
    rb"|\.(?:torch|version|hip)\s*=(?!=)|\btorch\.version\s*,|\bmultiple\(|[\"'](?:[\w.]+\.)?(?:torch|is_rocm|hip|version)(?:\.version)?(?:\.hip)?[\"']"
)


@dataclass(frozen=True)
class ModuleUse:
    """One use of another module: `module` as written in the import, `level` the leading dots, `name` what is used."""

    path: str
    line: int
    module: str
    level: int = 0
    name: str = ""

    @property
    def location(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass
class ModuleUses:
    """Uses in one file, or in all files of a tree."""

    star_imports: list[ModuleUse] = field(default_factory=list)
    flag_imports: list[ModuleUse] = field(
        default_factory=list
    )  # from M import is_rocm, M.is_rocm, getattr(M, "is_rocm")
    patches: list[ModuleUse] = field(default_factory=list)  # M.torch = x, patch("M.is_rocm")
    listings: list[ModuleUse] = field(default_factory=list)  # dir(M), vars(M), M.__dict__, getmembers(M)
    torch_stubs: list[str] = field(default_factory=list)
    hip_patches: list[str] = field(default_factory=list)

    def add(self, other: ModuleUses) -> None:
        for name, values in vars(other).items():
            getattr(self, name).extend(values)


def module_uses(path: str, tree: ast.Module) -> ModuleUses:
    return _UseReader(path, tree).uses


class _UseReader(ast.NodeVisitor):
    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path, self.uses = path, ModuleUses()
        self.modules: dict[str, tuple[str, int]] = {}  # local name -> module and level
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.modules[alias.asname or alias.name.split(".")[0]] = (alias.name if alias.asname else "", 0)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    full = f"{node.module}.{alias.name}" if node.module else alias.name
                    self.modules[alias.asname or alias.name] = (full, node.level)
        for node in ast.walk(tree):  # version = torch.version
            if isinstance(node, ast.Assign) and (module := self._module_of(node.value)) is not None:
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.modules.setdefault(target.id, module)
        self.visit(tree)

    def _is_torch_version(self, node: ast.AST) -> bool:
        return self._module_of(node) == _VERSION_MODULE or _dotted(node).endswith("torch.version")

    def _is_module_table(self, node: ast.AST) -> bool:
        """sys.modules, also under another name or as the text that mock.patch.dict takes."""
        is_named = self._module_of(node) == ("sys.modules", 0) or _dotted(node).endswith("sys.modules")
        return is_named or _constant(node) == "sys.modules"

    def _use(self, node: ast.expr | ast.stmt, module: str, level: int = 0, name: str = "") -> ModuleUse:
        return ModuleUse(self.path, node.lineno, module, level, name)

    def _module_of(self, node: ast.AST) -> tuple[str, int] | None:
        """The module that an expression names by the imports of this file; None for anything else."""
        dotted = _dotted(node)
        if not dotted:
            return None
        first, _, rest = dotted.partition(".")
        if first not in self.modules:
            return None
        module, level = self.modules[first]
        return (f"{module}.{rest}".strip(".") if module else dotted), level

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.uses.star_imports.append(self._use(node, node.module or "", node.level))
            elif alias.name == ROCM_FLAG:
                self.uses.flag_imports.append(self._use(node, node.module or "", node.level, ROCM_FLAG))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = self._module_of(node.value)
        if node.attr == ROCM_FLAG and owner is not None:
            stores = isinstance(node.ctx, ast.Store)
            (self.uses.patches if stores else self.uses.flag_imports).append(self._use(node, *owner, ROCM_FLAG))
        elif node.attr == "__dict__" and owner is not None:
            self.uses.listings.append(self._use(node, *owner))
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            if (node.attr == "hip" and self._is_torch_version(node.value)) or self._is_torch_version(node):
                self.uses.hip_patches.append(f"{self.path}:{node.lineno}")
            if node.attr == "torch" and owner is not None:
                self.uses.patches.append(self._use(node, *owner, "torch"))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """vars(torch.version)["hip"] = x, torch.version.__dict__["hip"] = x."""
        owner = node.value
        if isinstance(owner, ast.Call) and _dotted(owner.func) == "vars" and owner.args:
            is_version = self._is_torch_version(owner.args[0])
        else:
            is_version = (
                isinstance(owner, ast.Attribute) and owner.attr == "__dict__" and self._is_torch_version(owner.value)
            )
        if is_version and not isinstance(node.ctx, ast.Load):
            self.uses.hip_patches.append(f"{self.path}:{node.lineno}")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        for target in node.targets:
            is_modules = isinstance(target, ast.Subscript) and self._is_module_table(target.value)
            if (
                is_modules
                and isinstance(target, ast.Subscript)
                and _constant(target.slice) in _STUB_NAMES
                and not is_none
            ):
                self.uses.torch_stubs.append(f"{self.path}:{node.lineno}")
            if is_none and isinstance(target, ast.Attribute) and target.attr == "hip":
                self.visit(node.value)  # hip = None is what the guard expects
            else:
                self.visit(target)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        is_none = bool(values) and isinstance(values[-1], ast.Constant) and values[-1].value is None
        if function in ("setitem", "setdefault", "update", "dict") and not is_none:
            names = {_constant(inner) for inner in ast.walk(node)}
            if names & _STUB_NAMES and any(self._is_module_table(inner) for inner in ast.walk(node)):
                self.uses.torch_stubs.append(f"{self.path}:{node.lineno}")
        elif function == "multiple" and node.args:
            self._patch_multiple(node)
        elif function in ("patch", "setattr", "object", "delattr") and values:
            self._patch(node, values, is_none=is_none)
        elif function in ("getattr", "hasattr") and len(values) > 1 and _constant(values[1]) == ROCM_FLAG:
            module, level = self._module_of(values[0]) or ("*", 0)  # any object may be a module
            self.uses.flag_imports.append(self._use(node, module, level, ROCM_FLAG))
        elif function in ("vars", "dir", "getmembers") and values and (owner := self._module_of(values[0])):
            self.uses.listings.append(self._use(node, *owner))
        self.generic_visit(node)

    def _patch_multiple(self, node: ast.Call) -> None:
        """mock.patch.multiple("a", torch=x)."""
        text = _constant(node.args[0])
        module, level = (text, 0) if text else self._module_of(node.args[0]) or ("", 0)
        names = [keyword.arg for keyword in node.keywords if keyword.arg in GUARD_NAMES]
        self.uses.patches += [self._use(node, module, level, name) for name in names if module and name]
        if module == "torch.version" and any(keyword.arg == "hip" for keyword in node.keywords):
            self.uses.hip_patches.append(f"{self.path}:{node.lineno}")

    def _patch(self, node: ast.Call, values: list[ast.expr], *, is_none: bool) -> None:
        """mock.patch("a.torch"), monkeypatch.setattr(a, "torch", x), setattr(torch.version, "hip", x)."""
        text, attribute = _constant(values[0]), _constant(values[1]) if len(values) > 1 else ""
        dotted = _dotted(values[0])
        changes_hip = (self._is_torch_version(values[0]) and attribute == "hip") or (
            dotted == "torch" and attribute == "version"
        )
        if (changes_hip or text.startswith("torch.version")) and not is_none:
            self.uses.hip_patches.append(f"{self.path}:{node.lineno}")
        elif match := _PATCHED.match(text):
            self.uses.patches.append(self._use(node, match[1], 0, match[2]))
        elif attribute in GUARD_NAMES:
            module, level = self._module_of(values[0]) or (dotted, 0)
            if module:
                self.uses.patches.append(self._use(node, module, level, attribute))


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return node.id if isinstance(node, ast.Name) else ""


def _constant(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def may_name(use: ModuleUse, path: str) -> bool:
    """Whether the module of a use may be the file at `path`. Absolute names match the end of the path."""
    stem = path.removesuffix(".py").removesuffix("/__init__")
    if use.module == "*":
        return use.path != path
    parts = [part for part in use.module.split(".") if part]
    if use.level:
        folder = use.path.split("/")[: -use.level]
        return "/".join([*folder, *parts]) == stem
    tail = stem.split("/")[-len(parts) :] if parts else []
    return bool(parts) and tail == parts


def star_exports(data: Mapping[str, ast.Module], paths: list[str]) -> set[str]:
    """Names that `from M import *` may bind, for the modules at these paths, without their own star imports."""
    names: set[str] = set()
    for path in paths:
        tree = data[path]
        listed = declared_exports(tree)
        if listed is None:
            names |= {name for name in bound_names(tree) if not name.startswith("_")}
        else:
            names |= listed
    return names


def declared_exports(tree: ast.Module) -> set[str] | None:
    """The names in `__all__`; None if the module has none, or computes it."""
    values = [
        node.value
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        and any(isinstance(t, ast.Name) and t.id == "__all__" for t in _targets(node))
    ]
    if not values:
        return None
    names: set[str] = set()
    for value in values:
        if not isinstance(value, (ast.List, ast.Tuple)):
            return None
        if not all(isinstance(item, ast.Constant) for item in value.elts):
            return None
        names |= {_constant(item) for item in value.elts}
    return names


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def bound_names(tree: ast.Module) -> set[str]:
    """Names that a module binds at module level, also in its conditions and loops."""
    names: set[str] = set()
    for node in walk_scope(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
    return names - {"*"}


def is_standard_module(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in sys.stdlib_module_names


def torch_folders(paths: Iterator[str] | list[str]) -> dict[str, str]:
    """Folders with a module of their own named torch, and its path."""
    folders: dict[str, str] = {}
    for path in paths:
        for tail in ("torch.py", "torch/__init__.py"):
            if path == tail or path.endswith(f"/{tail}"):
                folders[path[: -len(tail)].rstrip("/")] = path
    return folders
