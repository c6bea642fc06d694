"""setup.py: requirements from its syntax tree. Parsed, never run.

Lists are traced through variables, concatenations, conditions and augmented assignments; values read from files or
computed stay unknown. Calls of pip in the file count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocm3d.manifest.manifest import InstallOption, ManifestReader, Mention, ParsedManifest, posix_path
from rocm3d.manifest.python_script import PythonLiterals, installs
from rocm3d.manifest.script import parse_requirement_entry

_KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})


def is_setup_py(path: str) -> bool:
    return posix_path(path).name == "setup.py"


def read(path: str, data: bytes) -> ParsedManifest:
    literals = PythonLiterals.parse(data)
    if literals is None:
        return ParsedManifest(path, reader.kind, data, unread=((1, "does not parse as Python 3"),))
    mentions: list[Mention] = []
    options: list[InstallOption] = []
    for section, value in _requirements(literals.nodes):
        for node, text in literals.strings(value):
            for entry_mentions, entry_options in _entries(literals, node, text, section):
                mentions += entry_mentions
                options += entry_options
    entry_mentions, entry_options, _ = installs(literals)
    ordered = sorted(dict.fromkeys([*mentions, *entry_mentions]), key=lambda mention: (mention.line, mention.column))
    return ParsedManifest(path, reader.kind, data, tuple(ordered), tuple(dict.fromkeys([*options, *entry_options])))


def _requirements(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Arguments of setup(), passed as keywords or in a dictionary."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg in _KEYWORDS)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _KEYWORDS:
                    yield str(key.value), value


def _entries(
    literals: PythonLiterals, node: ast.expr, text: str, section: str
) -> Iterator[tuple[list[Mention], list[InstallOption]]]:
    line, column = literals.position(node)
    for offset, part in enumerate(text.split("\n")):
        if part.strip():
            start = column if not offset else len(part) - len(part.lstrip()) + 1
            yield parse_requirement_entry(part.strip(), line + offset, start, section)


reader = ManifestReader(__name__, is_setup_py, read)
