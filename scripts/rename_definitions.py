"""Where names are defined, for rename.py, and which files mention them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "kernels", "scripts", "benchmarks")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
_SCOPED = re.compile(r"(?P<scope>[\w.]+)\((?P<name>\w+)\)\Z")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, order=True)
class Position:
    """Zero-based line and column, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class Edit:
    path: str
    start: Position
    end: Position
    text: str


@dataclass(frozen=True)
class Rename:
    table: str
    path: str
    key: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}: {self.key} -> {self.new}"


@dataclass
class Outcome:
    edits: dict[tuple[str, Position], tuple[Edit, Rename]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, edit: Edit, rename: Rename) -> None:
        before = self.edits.setdefault((edit.path, edit.start), (edit, rename))
        if before[0] != edit:
            self.problems.append(f"{rename}: conflicts with {before[1]} at {edit.path}:{edit.start.line + 1}")


class Source:
    def __init__(self, path: str) -> None:
        self.path = path
        self.text = (ROOT / path).read_text(encoding="utf-8")
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)

    def position(self, line: int, byte_column: int) -> Position:
        return Position(line - 1, len(self.lines[line - 1].encode()[:byte_column].decode()))

    def token(self, start: Position, name: str) -> Position:
        """The first occurrence of a name at or after a position: of `def f`, of the `as x` in an import."""
        for line in range(start.line, len(self.lines)):
            begin = start.column if line == start.line else 0
            match = re.compile(rf"\b{re.escape(name)}\b").search(self.lines[line], begin)
            if match:
                return Position(line, match.start())
        raise LookupError(name)

    def holds(self, at: Position, name: str) -> bool:
        return self.lines[at.line][at.column : at.column + len(name)] == name


def definition(source: Source, key: str) -> tuple[Position, str, ast.AST | None]:
    """Where a key of the table is bound first, the name itself, and its function if it is local to one."""
    scoped = _SCOPED.fullmatch(key)
    if scoped:
        function = _scope(source.tree, scoped["scope"].split("."))
        return _local(source, function, scoped["name"]), scoped["name"], function
    *outer, name = key.split(".")
    return _member(source, _scope(source.tree, outer), name), name, None


def _scope(node: ast.AST, names: list[str]) -> ast.AST:
    for name in names:
        for child in ast.walk(node):
            if child is not node and isinstance(child, (*FUNCTIONS, ast.ClassDef)) and child.name == name:
                node = child
                break
        else:
            raise LookupError(name)
    return node


def _member(source: Source, scope: ast.AST, name: str) -> Position:
    for node in statements_of(scope):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name == name:
            return source.token(_after_def(source, node), name)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return source.position(node.lineno, node.col_offset)
    for node in ast.walk(scope):
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
            assert node.end_lineno
            assert node.end_col_offset
            end = source.position(node.end_lineno, node.end_col_offset)
            return Position(end.line, end.column - len(name))
    raise LookupError(name)


def _after_def(source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Position:
    start = source.position(node.lineno, node.col_offset)
    return source.token(start, "class" if isinstance(node, ast.ClassDef) else "def")


def statements_of(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            yield from statements_of(child)


def _local(source: Source, function: ast.AST, name: str) -> Position:
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and node.arg == name:
            return source.position(node.lineno, node.col_offset)
    bound = [
        source.position(node.lineno, node.col_offset)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    if bound:
        return min(bound)
    for node in ast.walk(function):
        if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name == name:
            return source.token(source.position(node.lineno, node.col_offset), name)
        if isinstance(node, FUNCTIONS) and node is not function and node.name == name:
            return source.token(_after_def(source, node), name)
    raise LookupError(name)


class Occurrences:
    """Which files contain a word, and which contain it before an equals sign: most names need no search elsewhere."""

    def __init__(self) -> None:
        self.words: dict[str, set[str]] = defaultdict(set)
        self.assigned: dict[str, set[str]] = defaultdict(set)
        for folder in FOLDERS:
            for path in (ROOT / folder).rglob("*.py"):
                name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
                for word in set(re.findall(r"\w+", text)):
                    self.words[word].add(name)
                for word in set(re.findall(r"(\w+)\s*=(?!=)", text)):
                    self.assigned[word].add(name)

    def is_in_one_file(self, rename: Rename) -> bool:
        """Whether all references are in the file of the definition."""
        scoped = _SCOPED.fullmatch(rename.key)
        if not scoped:
            return self.words[rename.key.split(".")[-1]] <= {rename.path}
        function = scoped["scope"].split(".")[-1]
        function = scoped["scope"].split(".")[-2] if function == "__init__" else function
        return self.words[function] & self.assigned[scoped["name"]] <= {rename.path}
