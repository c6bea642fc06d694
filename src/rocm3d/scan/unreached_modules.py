"""Modules inside a package that nothing in the repository can import: what they import is not needed.

Found by names, not by a graph of imports: a module is reached if its name stands anywhere in code or configuration
outside of it, except in a comment. That covers imports of every form, registries, entry points and lists of plugins.
Whatever is not clear is reached.
"""

from __future__ import annotations

import ast
import codecs
import io
import posixpath
import re
import tokenize
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

ReadFile = Callable[[str], "bytes | None"]

_NAMING_SUFFIXES = frozenset({
    "", ".py", ".pyi", ".pyx", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".cfg", ".conf", ".ini", ".gin", ".xml",
    ".sh", ".bash", ".slurm", ".bat", ".ps1", ".mk", ".dockerfile", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp",
})  # fmt: skip
_WITHOUT_HASH_COMMENTS = frozenset({
    ".ipynb", ".json", ".xml", ".bat", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp",
})  # fmt: skip
_DYNAMIC = re.compile(
    rb"\b(?:importlib|import_module|pkgutil|runpy|__import__|imp|SourceFileLoader|exec_module|lazy_loader)\b"
    rb"|\b(?:exec|execfile)\s*\("
)
_PROJECT = re.compile(rb"^\s*\[(?:project|build-system|metadata|options|tool\.(?:poetry|flit|hatch|pdm|setuptools))",
                      re.MULTILINE)  # fmt: skip
_DEFINITIONS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
    ast.AugAssign, ast.If, ast.Try, ast.Assert, ast.Pass,
)  # fmt: skip


@dataclass
class UnreachedModules:
    """The modules of one tree. `read` gives the bytes of a file, or None if it cannot be read."""

    paths: Collection[str]
    read: ReadFile
    _known: dict[str, bool] = field(default_factory=dict)

    def __contains__(self, path: object) -> bool:
        """Whether nothing in the repository can import the module at this path, or a package that it is in."""
        return isinstance(path, str) and path.endswith(".py") and any(map(self._is_unreached, self._units(path)))

    def _units(self, path: str) -> Iterator[str]:
        """The packages that a module is in, outermost first, and the module itself; each inside another package."""
        parts = path.split("/")
        folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
        inner = [folder for folder in folders[1:] if self._is_package(folder)]
        yield from (folder for folder in inner if self._is_package(posixpath.dirname(folder)))
        if len(parts) > 1 and parts[-1] != "__init__.py" and self._is_package(folders[-1]):
            yield path

    def _is_package(self, folder: str) -> bool:
        return f"{folder}/__init__.py" in self.paths

    def _is_unreached(self, unit: str) -> bool:
        if unit not in self._known:
            self._known[unit] = self._search(unit)
        return self._known[unit]

    def _search(self, unit: str) -> bool:
        inside = [path for path in self.paths if path == unit or path.startswith(f"{unit}/")]
        modules = [path for path in inside if path.endswith(".py")]
        parents = list(_parents(unit))
        if any(self._may_be_installed(folder) for folder in ("", *parents)):
            return False  # whoever installs it can import every module
        if any(self._may_be_run(path) for path in modules):
            return False
        packages_inside = (posixpath.dirname(path) for path in modules if path.endswith("/__init__.py"))
        names = {_name(part) for part in (unit, *modules, *packages_inside)} - {"__init__"}
        if not all(name.isidentifier() for name in names):
            return False
        packages = [folder for folder in parents if self._is_package(folder)]
        search = _Search.of(names, packages)
        home = posixpath.dirname(unit)
        outside = (path for path in self.paths if _may_name(path) and path not in set(inside))
        for path in sorted(outside, key=lambda path: (not path.startswith(f"{home}/"), path)):
            data = self.read(path)
            if data is None or search.finds(path, data, is_parent=posixpath.dirname(path) in packages):
                return False
        return True

    def _may_be_installed(self, folder: str) -> bool:
        if posixpath.join(folder, "setup.py") in self.paths:
            return True
        manifests = (posixpath.join(folder, name) for name in ("pyproject.toml", "setup.cfg"))
        contents = [self.read(path) for path in manifests if path in self.paths]
        return any(data is None or _PROJECT.search(data) for data in contents)

    def _may_be_run(self, path: str) -> bool:
        """Whether a module does more than to define names, so that somebody may start it as a program."""
        data = self.read(path)
        if data is None or b"__main__" in data or data.startswith(b"#!") or path.endswith("/__main__.py"):
            return True
        try:
            body = ast.parse(data).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return True
        return not all(isinstance(node, _DEFINITIONS) or _is_constant(node) for node in body)


@dataclass(frozen=True)
class _Search:
    """What names a module: a word, a text with the dotted name of its package, or a dynamic import near it."""

    word: re.Pattern[bytes]
    package_text: re.Pattern[bytes] | None
    package_word: re.Pattern[bytes]

    @classmethod
    def of(cls, names: Collection[str], packages: list[str]) -> _Search:
        """`packages` are the folders of the packages that it is in, outermost first."""
        own = [posixpath.basename(folder) for folder in packages]
        dotted = [".".join(own[: end + 1]) for end in range(1, len(own))]
        text = re.compile(rb"[\"'][^\"'\n]*\b(?:%b)\b" % _any_of(dotted)) if dotted else None
        return cls(_word(names), text, _word(own))

    def finds(self, path: str, data: bytes, *, is_parent: bool) -> bool:
        """Whether the file may import the module. `is_parent`: it is a module of a package that the module is in."""
        if b"\0" in data:
            # A text in UTF-16 may name it; a picture or a program without a suffix does not.
            return _suffix(path) != "" or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        if self.word.search(data) and _is_named(path, data, self.word):
            return True
        if self.package_text is not None and self.package_text.search(data):
            return True
        is_dynamic = path.endswith((".py", ".pyx", ".ipynb")) and _DYNAMIC.search(data)
        return bool(is_dynamic) and (is_parent or _has_text(path, data, self.package_word))


def _name(path: str) -> str:
    return posixpath.basename(path).removesuffix(".py")


def _suffix(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def _parents(unit: str) -> Iterator[str]:
    parts = unit.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _may_name(path: str) -> bool:
    return _suffix(path) in _NAMING_SUFFIXES


def _any_of(names: Collection[str]) -> bytes:
    return b"|".join(re.escape(name.encode()) for name in sorted(names))


def _word(names: Collection[str]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<!\w)(?:%b)(?!\w)" % _any_of(names))


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_named(path: str, data: bytes, word: re.Pattern[bytes]) -> bool:
    """Whether the word stands outside of comments."""
    suffix = _suffix(path)
    if suffix in _WITHOUT_HASH_COMMENTS:
        return word.search(data) is not None
    if suffix not in (".py", ".pyi"):
        return any(word.search(line) for line in data.splitlines() if not line.lstrip().startswith(b"#"))
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return True
    return any(token.type != tokenize.COMMENT and word.search(token.string.encode()) for token in tokens)


def _has_text(path: str, data: bytes, word: re.Pattern[bytes]) -> bool:
    """Whether the word stands in a text that the file can use: not in a docstring, nor in an import statement."""
    if not word.search(data):
        return False
    try:
        tree = ast.parse(data) if path.endswith(".py") else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        return True
    unused = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in unused)
    return any(isinstance(node.value, str) and word.search(node.value.encode("utf-8", "replace")) for node in texts)
