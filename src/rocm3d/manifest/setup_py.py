"""setup.py: the requirements that its syntax tree shows. Parsed, never run.

Lists are followed through names, sums, conditions and augmented assignments, as setup files build them; what is
computed from files or functions stays unknown. Calls of pip from within the file count as well.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rocm3d.manifest.install_line import Word, installation, shell_commands
from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader
from rocm3d.manifest.script import one_mention

_KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})
_RUNNERS = frozenset({"system", "run", "call", "check_call", "check_output", "Popen", "getoutput"})
_STEPS = 20_000  # of following names: nested sums of names are as good a bomb as any


@dataclass
class _Setup:
    """One parsed file."""

    lines: list[bytes]
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    steps: int = 0

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Columns of the tree are bytes; ours are characters, and a literal starts behind its quote."""
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else b""
        start = node.col_offset
        while line[start : start + 1].lower() in (b"r", b"b", b"u", b"f"):
            start += 1
        quotes = 3 if line[start : start + 3] in (b'"""', b"'''") else 1
        return node.lineno, len(line[: start + quotes].decode("utf-8", "replace")) + 1


def is_setup_py(path: str) -> bool:
    """Whether a path is a setup.py."""
    return PurePosixPath(path).name == "setup.py"


def read(path: str, data: bytes) -> Manifest:
    """Requirements in the order of the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's escapes, not ours
            tree = ast.parse(data)
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Manifest(path, reader.kind, data, unread=((1, "does not parse as Python 3"),))
    setup = _Setup(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    _collect(setup, nodes)
    for section, value in _requirements(nodes):
        for node, text in _strings(setup, value, frozenset()):
            _take(setup, node, text, section)
    for inner in nodes:
        _pip_call(setup, inner)
    mentions = sorted(dict.fromkeys(setup.mentions), key=lambda item: (item.line, item.column))
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(dict.fromkeys(setup.options)))


def _collect(setup: _Setup, nodes: list[ast.AST]) -> None:
    """Every value that a name is given anywhere in the file."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    setup.values.setdefault(target.id, []).append(node.value)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name) and node.value:
            setup.values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner = node.func.value
            if node.func.attr in ("append", "extend") and isinstance(owner, ast.Name):
                setup.values.setdefault(owner.id, []).append(node.args[0])


def _requirements(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Arguments of setup(), wherever they are given: as keywords or in a dictionary."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from ((word.arg, word.value) for word in node.keywords if word.arg in _KEYWORDS)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _KEYWORDS:
                    yield str(key.value), value


def _strings(setup: _Setup, node: ast.expr, names: frozenset[str]) -> Iterator[tuple[ast.expr, str]]:
    """The string literals that an expression may come to."""
    stack: list[tuple[ast.expr, frozenset[str]]] = [(node, names)]
    while stack and setup.steps < _STEPS:
        setup.steps += 1
        inner, seen = stack.pop()
        if isinstance(inner, ast.Constant):
            if isinstance(inner.value, str):
                yield inner, inner.value
        elif isinstance(inner, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "*" for part in inner.values)
            yield inner, "".join(str(part) for part in parts)
        elif isinstance(inner, ast.Name):
            if inner.id not in seen:
                stack += [(value, seen | {inner.id}) for value in reversed(setup.values.get(inner.id, []))]
        else:
            stack += [(child, seen) for child in reversed(_children(inner))]


def _children(node: ast.expr) -> list[ast.expr]:
    """What an expression is made of, as far as it is a list of literals."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [item.value if isinstance(item, ast.Starred) else item for item in node.elts]
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return _called(node) if isinstance(node, ast.Call) else []


def _called(node: ast.Call) -> list[ast.expr]:
    if isinstance(node.func, ast.Name) and node.func.id in ("list", "sorted", "set"):
        return node.args
    return [node.func.value] if isinstance(node.func, ast.Attribute) and node.func.attr == "format" else []


def _take(setup: _Setup, node: ast.expr, text: str, section: str) -> None:
    line, column = setup.place(node)
    for offset, part in enumerate(text.split("\n")):
        if part.strip():
            start = column if not offset else len(part) - len(part.lstrip()) + 1
            named, given = one_mention(part.strip(), line + offset, start, section)
            setup.mentions += named
            setup.options += given


def _pip_call(setup: _Setup, node: ast.AST) -> None:
    """[sys.executable, "-m", "pip", "install", ...] and os.system("pip install ...")."""
    commands: list[tuple[Word, ...]] = []
    if isinstance(node, (ast.List, ast.Tuple)):
        literals = [item for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        words = [Word(str(item.value), *setup.place(item), item.lineno) for item in literals]
        commands = [tuple(words)]
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        text = node.args[0].value
        if name in _RUNNERS and isinstance(text, str):
            commands = shell_commands(text, *setup.place(node.args[0]))
    for words_given in commands:
        found = installation(words_given)
        if found is not None:
            setup.mentions += found.mentions
            setup.options += found.options


reader = Reader(__name__, is_setup_py, read)
