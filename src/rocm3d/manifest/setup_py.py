"""setup.py: requirements from its syntax tree. Parsed, never run.

Lists are traced through variables, concatenations, conditions and augmented assignments; values read from files or
computed stay unknown. Calls of pip in the file count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader, pure
from rocm3d.manifest.python_literals import Literals
from rocm3d.manifest.python_script import installed
from rocm3d.manifest.script import one_mention

_KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})


def is_setup_py(path: str) -> bool:
    return pure(path).name == "setup.py"


def read(path: str, data: bytes) -> Manifest:
    literals = Literals.of(data)
    if literals is None:
        return Manifest(path, reader.kind, data, unread=((1, "does not parse as Python 3"),))
    mentions: list[Mention] = []
    options: list[Option] = []
    for section, value in _requirements(literals.nodes):
        for node, text in literals.strings(value):
            for named, given in _entries(literals, node, text, section):
                mentions += named
                options += given
    named, given, _ = installed(literals)
    ordered = sorted(dict.fromkeys([*mentions, *named]), key=lambda item: (item.line, item.column))
    return Manifest(path, reader.kind, data, tuple(ordered), tuple(dict.fromkeys([*options, *given])))


def _requirements(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Arguments of setup(), passed as keywords or in a dictionary."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from ((word.arg, word.value) for word in node.keywords if word.arg in _KEYWORDS)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _KEYWORDS:
                    yield str(key.value), value


def _entries(
    literals: Literals, node: ast.expr, text: str, section: str
) -> Iterator[tuple[list[Mention], list[Option]]]:
    line, column = literals.place(node)
    for offset, part in enumerate(text.split("\n")):
        if part.strip():
            start = column if not offset else len(part) - len(part.lstrip()) + 1
            yield one_mention(part.strip(), line + offset, start, section)


reader = Reader(__name__, is_setup_py, read)
