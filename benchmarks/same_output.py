"""Differences of two outputs of rocm3d, without the texts that a refactoring may change.

Documents are compared as JSON, patches and files of a port by their effect, everything else by its bytes.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rocm3d.workspace.state import PORT_FOLDER
from rocm3d.workspace.state import STATE_FOLDER as STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SHOWN_LINES = 30  # shown of one file

# Keys whose strings are texts for people; the last two are SARIF's. Everything else in a document is compared.
TEXTS = frozenset({"message", "hint", "help", "why", "reason", "title", "shortDescription", "fullDescription"})
# Texts too, but of the same key some documents have an object, which is compared.
PLAIN_TEXTS = frozenset(
    {"detail", "do", "loses", "note", "proof", "reasons", "says", "skipped", "traps", "warnings", "would_need"}
)
# The module that makes the edit of a fix, and its arguments. The id of the fix and the edited file are compared.
IMPLEMENTATION = frozenset({"rewrite", "parameters"})
_COMMENT = re.compile(r"(^|\s+)#.*$")
# In install.sh, fail, note and begin only print their arguments, and so does a printf that writes to the terminal.
_ARGUMENTS = r"""(?:\s+(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\{[^}]*\}|[^\s;'"|&>()]+)+)*"""
_PRINTED = re.compile(
    rf"(?<!\$\()\b(?:(fail|note|begin \d+){_ARGUMENTS}|printf{_ARGUMENTS}(?=( >&2)?\s*(\|\| |\| note|;|$)))"
)
_DIFF = re.compile(rb"^diff --git ", re.MULTILINE)


def json_differences(before: Any, after: Any, path: str = "$", *, text: bool = False) -> Iterator[str]:
    """JSON path and both values of every difference; strings under a key of TEXTS may differ."""
    if type(before) is not type(after):
        yield f"{path}: {_short(before)} -> {_short(after)}"
    elif isinstance(before, dict):
        if list(before) != list(after):
            yield f"{path}: keys {_short(list(before))} -> {_short(list(after))}"
        texts = TEXTS | _keys_derived_from_texts(before, after)
        ignored = IMPLEMENTATION if "recipe" in before else frozenset()
        for key in (key for key in before if key in after and key not in ignored):
            key_path = f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
            is_text = text or key in texts or (key in PLAIN_TEXTS and _is_plain(before[key]))
            yield from json_differences(before[key], after[key], key_path, text=is_text)
    elif isinstance(before, list):
        yield from _list_differences(before, after, path, text=text)
    elif before != after and not (text and isinstance(before, str)):
        yield f"{path}: {_short(before)} -> {_short(after)}"


def _is_plain(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _keys_derived_from_texts(before: dict[str, Any], after: dict[str, Any]) -> frozenset[str]:
    """Keys of this object whose strings are derived from texts."""
    # SARIF's fingerprint is a digest of rule, path and message.
    fingerprint = {"partialFingerprints"} if before.get("message") != after.get("message") else set()
    # Digest and diff of an added file: the file is in rocm-port/ and is compared itself, without its prose.
    added = {"after", "diff"} if "before" in before and before["before"] is None else set()
    return frozenset(fingerprint | added)


def _list_differences(before: list[Any], after: list[Any], path: str, *, text: bool) -> Iterator[str]:
    if len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from json_differences(old, new, f"{path}[{number}{_label(old)}]", text=text)
    else:
        yield f"{path}: {len(before)} items -> {len(after)} items"
        items = ([json.dumps(_without_texts(item)) for item in side] for side in (before, after))
        yield from (line[:200] for line in _unified_diff(*items, context=0))


def _without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        texts = (
            TEXTS
            | _keys_derived_from_texts(value, {})
            | {key for key in PLAIN_TEXTS & value.keys() if _is_plain(value[key])}
        )
        return {key: _without_texts(item) for key, item in value.items() if key not in texts}
    return [_without_texts(item) for item in value] if isinstance(value, list) else value


def _label(item: Any) -> str:
    """Identifies an item of a list for a reader."""
    keys = ("code", "ruleId", "recipe", "id", "name", "path")
    return next((f" {item[key]}" for key in keys if item.get(key)), "") if isinstance(item, dict) else ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."


def markdown_commands(text: str) -> list[str]:
    """Lines of the fenced code blocks, without comments."""
    return requirement_lines("\n".join(re.split(r"^```.*$", text, flags=re.MULTILINE)[1::2]))


def python_statements(text: str) -> list[str]:
    """Statements without comments, docstrings and layout; names that the file defines are numbered by scope."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        # A statement that is only a value has no effect.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    lines = ast.unparse(_NumberNames().visit(tree)).splitlines()
    return [line for line in lines if line.strip() != '""""""']


_SCOPES = (ast.Module, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _NumberNames(ast.NodeTransformer):
    """Replaces names of functions, classes, parameters and variables. Imported names, attributes and keywords stay."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}
        self.depth = 0

    def visit(self, node: ast.AST) -> ast.AST:
        for field in ("name", "arg", "id"):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.arg, ast.Name)) and hasattr(node, field):
                setattr(node, field, self.numbers.get(getattr(node, field), getattr(node, field)))
        if not isinstance(node, _SCOPES):
            return self.generic_visit(node)
        outer, self.depth = self.numbers, self.depth + 1
        defined = dict.fromkeys(_defined_names(node))
        self.numbers = {**outer, **{name: f"name_{self.depth}_{number}" for number, name in enumerate(defined)}}
        self.generic_visit(node)
        self.numbers, self.depth = outer, self.depth - 1
        return node


def _defined_names(scope: ast.AST) -> Iterator[str]:
    """In order of appearance; a nested scope has its own."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, (ast.ClassDef, *_SCOPES)):
            yield from _defined_names(node)


def code_lines(text: str) -> list[str]:
    """Lines that are neither empty nor a comment: for Dockerfile, compose.yaml, .dockerignore."""
    return [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def shell_commands(text: str) -> list[str]:
    """Lines without comments and without printed text."""
    return [_PRINTED.sub(lambda printed: printed[1] or "printf", line) for line in code_lines(text)]


def requirement_lines(text: str) -> list[str]:
    """Lines without comments, by pip's rule: white space before the number sign."""
    return [line for line in (_COMMENT.sub("", line) for line in text.split("\n")) if line.strip()]


# By suffix; a file of rocm-port/ with any other is compared by its bytes.
NORMAL_FORMS = {
    ".md": markdown_commands,
    ".py": python_statements,
    ".sh": shell_commands,
    **dict.fromkeys((".txt", ".in"), requirement_lines),
    **dict.fromkeys(("", ".dockerignore", ".yaml"), code_lines),
}


def patch_lines(patch: bytes) -> list[str]:
    """Lines without the prose of the message; of files in rocm-port/ only the names, as the files are compared too."""
    starts = [0, *(match.start() for match in _DIFF.finditer(patch)), len(patch)]
    head, *diffs = [_decode(patch[start:end]).split("\n") for start, end in pairwise(starts)]
    lines = [line for line in head if line.startswith(("From", "Content-", "- "))]
    for diff in diffs:
        lines += diff[:1] if diff[0].startswith(f"diff --git a/{PORT_FOLDER}/") else diff
    return lines


def file_differences(path: str, before: bytes, after: bytes) -> list[str]:
    """`path` is relative to a workspace and decides what may differ."""
    if before == after:
        return []
    parts, suffix = PurePosixPath(path).parts, PurePosixPath(path).suffix
    top_folder = parts[2] if len(parts) > 2 else parts[0]
    try:
        if top_folder in ("documents", STATE, PORT_FOLDER) and suffix in (".json", ".sarif"):
            return list(json_differences(json.loads(before), json.loads(after)))
        if top_folder in (STATE, PORT_FOLDER) and suffix == ".patch":
            return _unified_diff(patch_lines(before), patch_lines(after))
        if top_folder == PORT_FOLDER and (form := NORMAL_FORMS.get(suffix)):
            return _unified_diff(form(_decode(before)), form(_decode(after)))
    except (ValueError, SyntaxError):
        pass  # not in the format of its suffix, so every byte counts
    return _unified_diff(_decode(before).split("\n"), _decode(after).split("\n"))


def _decode(data: bytes) -> str:
    """Decode so that different bytes give different texts."""
    return data.decode("utf-8", "surrogateescape")


def _unified_diff(before: list[str], after: list[str], context: int = 2) -> list[str]:
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="", n=context)
    return [line.encode("utf-8", "backslashreplace").decode() for line in lines]


def workspace_differences(before: Path, after: Path) -> Iterator[str]:
    """One text per difference, with every path that has it: a document is in several trees."""
    old, new = _entries(before), _entries(after)
    paths_by_difference: dict[tuple[str, ...], list[str]] = {}
    for path in sorted({*old, *new}):
        if path not in old or path not in new:
            yield f"{path}: only {'before' if path in old else 'after'}"
        elif lines := file_differences(path, _content(old[path]), _content(new[path])):
            paths_by_difference.setdefault(tuple(lines), []).append(path)
    for lines, paths in paths_by_difference.items():
        rest = [f"... {len(lines) - MAX_SHOWN_LINES} more lines"] if len(lines) > MAX_SHOWN_LINES else []
        yield "\n    ".join([f"{', '.join(paths)}:", *lines[:MAX_SHOWN_LINES], *rest])


def changed_paths(source: Path, tree: Path) -> list[str]:
    """Paths of a tree that differ from the source, without rocm3d's own state."""
    old, new = _entries(source), _entries(tree)
    changed = {path for path in old.keys() & new.keys() if _content(old[path]) != _content(new[path])}
    return sorted(path for path in changed | (old.keys() ^ new.keys()) if path.split("/")[0] != STATE)


def _entries(folder: Path) -> dict[str, Path]:
    """Files and folders by path: a folder that undo leaves behind is a difference."""
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}


def _content(path: Path) -> bytes:
    return b"" if path.is_dir() else path.read_bytes()
