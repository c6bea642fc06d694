"""Facts of a whole tree that the isolation proof of each of its files relies on: see docs/isolation-proof.md.

They are read once per apply or verify. Every file is searched for a few words; only those with one of them are parsed.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from rocm3d.syntax import compiled_functions, module_uses, source_readers
from rocm3d.syntax.build_definitions import (
    MENTIONS,
    SwitchSetting,
    build_definitions,
    is_build_text,
    source_flags,
)
from rocm3d.syntax.compiled_functions import CompiledNames
from rocm3d.syntax.cuda import CUDA_SUFFIXES
from rocm3d.syntax.guard_macros import (
    AS_SWITCHED,
    GuardDefinition,
    alias_definitions,
    included_names,
    is_included_text,
    source_definitions,
)
from rocm3d.syntax.module_uses import ModuleUses
from rocm3d.syntax.python_fold import ROCM_FLAG, walk_scope
from rocm3d.syntax.source_readers import DIGEST, TextReader

_DOCUMENTS = frozenset({".rst", ".md", ".txt"})
_DIGEST_FILES = frozenset(
    {
        ".py",
        ".json",
        ".toml",
        ".cfg",
        ".txt",
        ".sha256",
        ".sha1",
        ".md5",
        ".sha",
        ".yml",
        ".yaml",
        ".sh",
        ".cmake",
        ".lock",
    }
)
_SCRIPTS = frozenset({".sh", ".bash", ".mk", ".bat", ".yml", ".yaml"})
_MAX_TEXT = 1 << 20  # bytes of a file that is neither source nor script


class Files(Protocol):
    """What is used of workspace.tree.Tree."""

    def paths(self) -> list[str]: ...
    def size(self, path: str) -> int: ...
    def read(self, path: str) -> bytes | None: ...


@dataclass(frozen=True)
class IsolationFacts:
    """Facts of one tree. The default, without a tree, is for the proof of a file that stands alone."""

    definitions: tuple[GuardDefinition, ...] = ()
    switches: tuple[SwitchSetting, ...] = ()
    unread_sources: tuple[str, ...] = ()
    unread_modules: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str, str], ...] = ()  # name, definition for CUDA, path
    readers: tuple[TextReader, ...] = ()
    digests: frozenset[bytes] = frozenset()
    python_paths: frozenset[str] = frozenset()
    uses: ModuleUses = field(default_factory=ModuleUses)
    compiled: CompiledNames = field(default_factory=CompiledNames)
    flag_files: frozenset[str] = frozenset()  # Python files with the word is_rocm
    read: Callable[[str], bytes | None] = field(default=lambda _: None, compare=False)

    @cached_property
    def torch_modules(self) -> dict[str, str]:
        """Modules of the tree that are named torch, by their folder."""
        return module_uses.torch_folders(sorted(self.python_paths))

    @cached_property
    def _readers_by_name(self) -> dict[str, list[TextReader]]:
        """Readers by the file name that they read; those of patterns are under the empty name."""
        readers: dict[str, list[TextReader]] = defaultdict(list)
        for reader in self.readers:
            readers[reader.plain_name].append(reader)
        return readers

    def with_edit(self, path: str, data: bytes) -> IsolationFacts:
        """The facts after an edit: the macros that it adds must agree with those of other edits."""
        added = tuple((name, text, path) for name, text in alias_definitions(data))
        return replace(self, aliases=(*(item for item in self.aliases if item[2] != path), *added)) if added else self

    def text_problem(self, path: str, before: bytes) -> str | None:
        """Who reads the text of the file, and not only what it means to a compiler."""
        for reader in (*self._readers_by_name.get(path.rpartition("/")[2], ()), *self._readers_by_name.get("", ())):
            if reader.reads(path):
                return f"{reader} (assumption T1)"
        if self.digests:
            for algorithm in (hashlib.md5, hashlib.sha1, hashlib.sha256):
                if algorithm(before, usedforsecurity=False).hexdigest().encode() in self.digests:
                    return "a digest of this file stands in the tree (assumption T2)"
        return None

    def star_exports(self, path: str, module: str, level: int) -> set[str] | None:
        """Names that `from module import *` binds in the file at `path`; None if the module is not in the tree."""
        use = module_uses.ModuleUse(path, 0, module, level)
        collected: set[str] = set()
        pending, done = [use], set()
        is_known = False
        while pending:
            current = pending.pop()
            for candidate in self.python_paths:
                if candidate in done or not module_uses.may_name(current, candidate):
                    continue
                done.add(candidate)
                tree = self.parse(candidate)
                if tree is None:
                    return None
                is_known = True
                collected |= module_uses.star_exports({candidate: tree}, [candidate]) - _plain_torch(tree)
                pending += [use for use in self.uses.star_imports if use.path == candidate]
        return collected if is_known else None

    def parse(self, path: str) -> ast.Module | None:
        data = self.read(path)
        return None if data is None else _parse(data)

    def uses_name(self, path: str, name: str) -> bool:
        """Whether a module has its own use of a guard name that another value would change."""
        if name == ROCM_FLAG:
            return path in self.flag_files
        tree = self.parse(path)
        return tree is None or (
            "torch" in module_uses.bound_names(tree) - _plain_torch(tree)
            or ("torch" not in module_uses.bound_names(tree) and _loads_torch(tree))
        )

    def lists_names(self, path: str) -> bool:
        data = self.read(path)
        return data is None or re.search(rb"\b(?:dir|vars|globals|locals)\(\s*\)", data) is not None

    def mentions_guard_names(self, file_name: str) -> bool:
        """Whether a Python file of this name has one of the guard's names; True if there is no such file."""
        data = [self.read(path) for path in self.python_paths if path.rpartition("/")[2] == file_name]
        return not data or any(text is None or re.search(rb"\b(?:is_rocm|torch)\b", text) for text in data)


def _plain_torch(tree: ast.Module) -> set[str]:
    """`torch`, if only imports of torch bind it."""
    for node in walk_scope(tree):
        if isinstance(node, ast.Name) and node.id == "torch" and isinstance(node.ctx, ast.Store):
            return set()
        if isinstance(node, ast.ImportFrom) and any((a.asname or a.name) == "torch" for a in node.names):
            return set()
        if isinstance(node, ast.Import) and any(a.asname == "torch" and a.name != "torch" for a in node.names):
            return set()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == "torch":
            return set()
    is_imported = any(
        isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch" for alias in node.names)
        for node in walk_scope(tree)
    )
    return {"torch"} if is_imported else set()


def _loads_torch(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "torch" for node in ast.walk(tree))


def _parse(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read_facts(tree: Files, without: str = "") -> IsolationFacts:
    """Read every text file of a tree once. `without` is a folder to leave out: that of the port."""
    return _FactReader(tree, without).facts()


class _FactReader:
    def __init__(self, tree: Files, without: str) -> None:
        self.tree = tree
        self.paths = [path for path in tree.paths() if not (without and path.startswith(f"{without}/"))]
        self.definitions: list[GuardDefinition] = []
        self.switches: list[SwitchSetting] = []
        self.unread: list[str] = []
        self.unread_modules: list[str] = []
        self.aliases: list[tuple[str, str, str]] = []
        self.readers: list[TextReader] = []
        self.digests: set[bytes] = set()
        self.included: set[str] = set()
        self.uses = ModuleUses()
        self.flag_files: set[str] = set()
        self.compiling: list[str] = []
        self.defining: dict[str, list[str]] = defaultdict(list)

    def facts(self) -> IsolationFacts:
        for path in self.paths:
            self._read(path)
        for path in self.paths:  # text that sources include, whatever its name
            if path.rpartition("/")[2] in self.included and (data := self.tree.read(path)) is not None:
                self.definitions += source_definitions(path, data)
        if not self.switches:
            self.definitions = [item for item in self.definitions if item.action != AS_SWITCHED]
        compiled = self._compiled()
        return IsolationFacts(
            definitions=tuple(self.definitions),
            switches=tuple(self.switches),
            unread_sources=tuple(self.unread),
            unread_modules=tuple(self.unread_modules),
            aliases=tuple(self.aliases),
            readers=tuple(self.readers),
            digests=frozenset(self.digests),
            python_paths=frozenset(path for path in self.paths if path.endswith(".py")),
            uses=self.uses,
            compiled=compiled,
            flag_files=frozenset(self.flag_files),
            read=self.tree.read,
        )

    def _read(self, path: str) -> None:
        name = PurePosixPath(path)
        suffix = name.suffix
        is_source = is_included_text(path) and suffix != ""
        is_text = (
            is_source or suffix in _DOCUMENTS | _DIGEST_FILES | {".patch", ".diff"} or is_build_text(path) or not suffix
        )
        if not is_text or (suffix not in CUDA_SUFFIXES | {".py"} and self.tree.size(path) > _MAX_TEXT):
            return
        data = self.tree.read(path)
        if data is None:
            if suffix in CUDA_SUFFIXES:
                self.unread.append(path)
            return
        if suffix not in CUDA_SUFFIXES and b"\0" in data[:1024]:
            return
        if is_included_text(path):
            self._read_source(path, data)
        try:
            if suffix == ".py":
                self._read_python(path, data)
            if MENTIONS.search(data):
                self._read_build_file(path, data)
        except RecursionError:
            self.unread_modules.append(path)
        self._read_text(path, name, data)

    def _read_build_file(self, path: str, data: bytes) -> None:
        for setting in build_definitions(path, data):
            if isinstance(setting, SwitchSetting):
                self.switches.append(setting)
            else:
                self.definitions.append(setting)

    def _read_source(self, path: str, data: bytes) -> None:
        self.definitions += source_definitions(path, data)
        if PurePosixPath(path).suffix in CUDA_SUFFIXES:
            self.definitions += source_flags(path, data)
            self.aliases += [(name, text, path) for name, text in alias_definitions(data)]
            self.readers += source_readers.cpp_readers(path, data)
            self.included.update(included_names(data))

    def _read_python(self, path: str, data: bytes) -> None:
        if ROCM_FLAG.encode() in data:
            self.flag_files.add(path)
        for name in compiled_functions.defined_names(data):
            self.defining[name].append(path)
        if compiled_functions.RELEVANT.search(data):
            self.compiling.append(path)
        has_uses, has_reads = module_uses.RELEVANT.search(data), source_readers.PYTHON_READS.search(data)
        tree = _parse(data) if has_uses or has_reads else None
        if tree is None:
            return
        if has_uses:
            self.uses.add(module_uses.module_uses(path, tree))
        if has_reads:
            self.readers += source_readers.python_readers(path, tree)

    def _read_text(self, path: str, name: PurePosixPath, data: bytes) -> None:
        if name.name == "CMakeLists.txt" or name.suffix == ".cmake":
            self.readers += source_readers.cmake_readers(path, data)
        elif name.suffix in _SCRIPTS or name.name.startswith(("Makefile", "makefile", "Dockerfile")):
            self.readers += source_readers.script_readers(path, data)
        elif name.suffix in (".patch", ".diff"):
            self.readers += source_readers.patch_readers(path, data)
        if name.suffix in _DOCUMENTS:
            self.readers += source_readers.document_readers(path, data)
        if name.suffix in _DIGEST_FILES or "sum" in name.name.lower():
            self.digests.update(DIGEST.findall(data))

    def _compiled(self) -> CompiledNames:
        """Names that are compiled or inspected, with those that TorchScript reaches from them."""
        names = CompiledNames()
        trees = {path: tree for path in self.compiling if (tree := self._parsed(path)) is not None}
        for _ in range(3):  # a wrapper may be called by another wrapper
            known = len(names.wrappers)
            for path, tree in trees.items():
                try:
                    names.add(compiled_functions.compiled_names(path, tree, names.wrappers))
                except RecursionError:
                    self.unread_modules.append(path)
            if len(names.wrappers) == known:
                break
            self._add_callers(names.wrappers, trees)
        if names.scripted:
            files = {name: tuple(paths) for name, paths in self.defining.items()}
            names.scripted = compiled_functions.scripted_closure(names.scripted, files, self._parsed)
        return names

    def _add_callers(self, wrappers: Iterable[str], trees: dict[str, ast.Module]) -> None:
        """Files that call a function which compiles its argument."""
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(name).encode() for name in wrappers) + rb")\b")
        for path in self.paths:
            if path.endswith(".py") and path not in trees and (data := self.tree.read(path)) is not None:
                tree = _parse(data) if pattern.search(data) else None
                if tree is not None:
                    trees[path] = tree

    def _parsed(self, path: str) -> ast.Module | None:
        data = self.tree.read(path)
        return None if data is None else _parse(data)
