"""Names and texts use the words of docs/glossary.md. Exceptions, with reasons: allowed_words.toml beside this file."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rocm3d.knowledge.load import tomllib

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ALLOWED = tomllib.loads((Path(__file__).parent / "allowed_words.toml").read_text(encoding="utf-8"))
CODE = ("src", "tests", "scripts", "benchmarks", "kernels/src", "kernels/gate", "kernels/tests", "kernels/benchmarks")
DISTRIBUTIONS = ("src/rocm3d", "kernels/src/rocm3d_kernels")
TEXTS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "knowledge/**/*.toml", "src/**/*.md", "src/**/*.html")


def section(title: str) -> str:
    return GLOSSARY.split(f"## {title}\n")[1].split("\n## ")[0]


def first_column(text: str) -> list[str]:
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    return [word for row in rows[2:] for word in row.split(", ")]


WORDS = frozenset(first_column(section("Names not to use")))
WHOLE_NAMES = frozenset(
    re.findall(r"`(\w+)`", section("Names not to use").split("complete name only")[1].split(":")[1])
)
PHRASES = [
    re.compile(r"\b" + phrase.replace("…", r"\S+(?: \S+)?").replace(" ", r"\s+") + r"\b", re.IGNORECASE)
    for phrase in first_column(section("Phrases not to use in texts"))
]
SOURCES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for folder in CODE
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "isolation_cases" not in path.parts  # trees as others write them, one of them in another encoding
}


def schema_keys(path: str, tree: ast.Module) -> set[ast.AST]:
    """Fields of documents and records, which stay: the glossary lists the unclear ones."""
    if not path.startswith("src/rocm3d/model/"):
        return set()
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {field.target for node in classes for field in node.body if isinstance(field, ast.AnnAssign)}


def defined_names(path: str, tree: ast.Module) -> Iterator[str]:
    keys = schema_keys(path, tree)
    yield Path(path).stem
    for node in ast.walk(tree):
        if node in keys:
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def words_of(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[A-Z][a-z0-9]*", name)


# Names of tests are sentences, in which these are plain English.
SENTENCE_WORDS = frozenset({"ask", "given", "here", "kept", "says", "there"})


def is_refused(name: str) -> bool:
    words = WORDS - SENTENCE_WORDS if name.startswith("test_") else WORDS
    return name in WHOLE_NAMES or not words.isdisjoint(word.lower() for word in words_of(name))


def test_a_refused_word_is_recognised_in_any_spelling():
    assert all(map(is_refused, ("told_lines", "_told", "ToldLines", "found")))
    assert not any(map(is_refused, ("lookup", "not_found", "keptnot")))


def test_names_use_the_words_of_the_glossary():
    refused = defaultdict(set)
    for path, tree in SOURCES.items():
        for name in filter(is_refused, defined_names(path, tree)):
            if name not in ALLOWED["names"] and f"{path}:{name}" not in ALLOWED["names"]:
                refused[path].add(name)

    assert {} == refused


def test_every_exception_is_needed():
    names = [(path, name) for path, tree in SOURCES.items() for name in defined_names(path, tree) if is_refused(name)]

    assert set(ALLOWED["names"]) <= {name for _, name in names} | {f"{path}:{name}" for path, name in names}


def test_a_public_class_name_denotes_one_class_in_a_distribution():
    owners = defaultdict(list)
    for path, tree in SOURCES.items():
        for distribution in DISTRIBUTIONS:
            if path.startswith(distribution):
                for node in ast.walk(tree):
                    if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                        owners[distribution, node.name].append(path)

    repeated = {name: paths for (_, name), paths in owners.items() if len(paths) > 1}
    assert {} == {name: paths for name, paths in repeated.items() if name not in ALLOWED["classes"]}


def test_exceptions_end_in_error():
    bases = {"Exception", "BaseException", "ValueError", "RuntimeError", "OSError", "LookupError", "Rocm3dError"}
    wrong = [
        f"{path}: {node.name}"
        for path, tree in SOURCES.items()
        if path.startswith(DISTRIBUTIONS)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and bases & {ast.unparse(base) for base in node.bases}
        if not node.name.endswith("Error")
    ]

    assert [] == wrong


def texts() -> Iterator[tuple[str, str]]:
    for pattern in TEXTS:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            if name != "docs/glossary.md" and "/data/" not in name:
                yield name, path.read_text(encoding="utf-8")
    for path, tree in SOURCES.items():
        if path.startswith(DISTRIBUTIONS):
            yield path, "\n".join(strings(tree))


def strings(tree: ast.Module) -> Iterator[str]:
    """String literals with a space in them: messages and docstrings, not keys."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def test_texts_avoid_the_phrases_of_the_glossary():
    refused = [
        f"{name}: {' '.join(text[max(match.start() - 40, 0) : match.end() + 30].split())}"
        for name, text in texts()
        for phrase in PHRASES
        for match in phrase.finditer(text)
    ]

    assert [] == refused
