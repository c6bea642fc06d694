"""setup.py: requirements from its syntax tree. Parsed, never run.

Lists are traced through variables, concatenations, conditions and augmented assignments; values read from files or
computed stay unknown. Calls of pip in the file count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, PythonRange, UnreadableManifestError, has_name
from rocm3d.manifest.python_script import PythonLiterals, installs
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.manifest.version_ranges import pip_specifier

_PYTHON = "python_requires"
_KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require", _PYTHON})


def _parse(path: str, data: bytes) -> ParsedManifest:
    literals = PythonLiterals.parse(data)
    if literals is None:
        raise UnreadableManifestError("does not parse as Python 3")
    builder = ManifestBuilder()
    for section, value in _requirements(literals.nodes):
        for node, text in literals.strings(value):
            line, column = literals.position(node)
            if section == _PYTHON:
                builder.pythons.append(PythonRange(pip_specifier(text.strip()), line, column, required=True))
                continue
            for offset, part in enumerate(text.split("\n")):
                start = column if not offset else len(part) - len(part.lstrip()) + 1
                if part.strip():
                    builder.add_requirement(part.strip(), line + offset, start, section)
    calls = installs(literals)
    builder.mentions = list(dict.fromkeys(builder.mentions + calls.mentions))
    builder.options = list(dict.fromkeys(builder.options + calls.options))
    builder.sort_mentions()
    return builder.manifest(path, reader.kind, data)


def _requirements(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Arguments of setup(), passed as keywords or in a dictionary."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg in _KEYWORDS)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _KEYWORDS:
                    yield str(key.value), value


reader = ManifestReader(__name__, has_name("setup.py"), _parse)
read = reader.read
