"""No domain facts in code: no gfx id, package name or version in a string literal."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rocm3d import __version__
from rocm3d.knowledge.load import load, tomllib

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "rocm3d"
ALLOWED = tomllib.loads((Path(__file__).parent / "allowed_literals.toml").read_text(encoding="utf-8"))["allowed"]

GFX = re.compile(r"\bgfx[0-9]{2,4}[0-9a-f]\b")
VERSION = re.compile(r"(?<![\w.])\d+\.\d+(?:\.\d+)*(?![\w.])")


def package_names() -> set[str]:
    """All names of package records, without patterns."""
    packages = load().packages.values()
    return {name for package in packages for name in (package.id, *package.pip, *package.imports) if "*" not in name}


NAMES = re.compile(
    r"(?<![\w-])(" + "|".join(sorted(map(re.escape, package_names()), key=len, reverse=True)) + r")(?![\w-])"
)


def string_literals(tree: ast.Module):
    """String literals that are neither docstrings nor help texts."""
    skipped = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            skipped |= {id(item.value) for item in body if isinstance(item, ast.Expr)}
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "EXAMPLE" for target in node.targets):
            skipped |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.keyword) and node.arg in ("help", "hint", "epilog", "description"):
            skipped |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node


def facts_in_literals(path: Path) -> set[str]:
    values = set()
    for node in string_literals(ast.parse(path.read_text(encoding="utf-8"))):
        for pattern in (GFX, VERSION, NAMES):
            values |= set(pattern.findall(node.value))
    return values - {__version__}


def test_no_domain_fact_stands_in_code():
    facts_by_file = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        allowed = {word for entry in ALLOWED if entry["file"] == name for word in entry["words"]}
        if extra := facts_in_literals(path) - allowed:
            facts_by_file[name] = extra

    assert {} == facts_by_file


def test_every_exception_is_needed_and_has_a_reason():
    for entry in ALLOWED:
        assert len(entry["reason"]) > 20, entry
        assert set(entry["words"]) == facts_in_literals(SOURCE / entry["file"]) & set(entry["words"]), entry["file"]


@pytest.mark.parametrize(
    ("text", "fact"), [("for gfx942 only", "gfx942"), ("needs 7.2", "7.2"), ("pip install flash-attn", "flash-attn")]
)
def test_fact_in_a_literal_is_detected(tmp_path, text, fact):
    module = tmp_path / "m.py"
    module.write_text(f'"""gfx1100 in a docstring."""\nx = f({text!r})\n')

    assert {fact} == facts_in_literals(module)
