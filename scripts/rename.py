"""Applies rename tables: `python scripts/rename.py TABLE.toml [...]`. References come from pyright's language server.

A table has one section per file. Keys are names in that file, values are the new names:

    ["src/rocm3d/record/told.py"]
    file = "src/rocm3d/record/hook_events.py"     # the file moves, imports and paths in texts follow
    "Told" = "HookEvents"                         # class, function or constant of the module
    "Told.kept" = "entries"                       # attribute or method
    "Told.read(given)" = "arguments"              # parameter or local variable of a function

All references are collected on the unchanged tree before the first edit, so the order of entries does not matter.
An entry that cannot be applied is reported and skipped. Needs `pip install basedpyright`.
"""

import argparse
import ast
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import tomli
from rename_definitions import (
    FUNCTIONS,
    IDENTIFIER,
    ROOT,
    Edit,
    Occurrences,
    Outcome,
    Position,
    Rename,
    Source,
    definition,
    statements_of,
)
from rename_server import LanguageServer

TEXT_SUFFIXES = {".py", ".toml", ".md", ".yml", ".yaml", ".json", ".in", ".sh", ".html", ""}


def collect(table: list[Rename], servers: int, outcome: Outcome) -> None:
    """Each language server takes the next file that is left."""
    occurrences = Occurrences()
    everywhere: dict[str, list[Rename]] = defaultdict(list)
    in_one_file: dict[str, list[Rename]] = defaultdict(list)
    for rename in table:
        (in_one_file if occurrences.is_in_one_file(rename) else everywhere)[rename.path].append(rename)
    with tempfile.TemporaryDirectory() as empty:
        for root, by_file in ((Path(empty), in_one_file), (ROOT, everywhere)):
            left = list(reversed(by_file.items()))
            with ThreadPoolExecutor(servers) as pool:
                for future in [pool.submit(_work, root, left, outcome) for _ in range(servers)]:
                    future.result()


def _work(root: Path, left: list[tuple[str, list[Rename]]], outcome: Outcome) -> None:
    # Without our packages nothing outside the opened file is analysed.
    python = sys.executable if root == ROOT else str(Path(sys.base_prefix, "bin", "python3"))
    server = LanguageServer(root, python)
    try:
        while left:
            path, renames = left.pop()
            _collect_file(Source(path), renames, server, outcome)
            print(f"{len(left)} files left, {path}: {len(renames)}", file=sys.stderr, flush=True)
    finally:
        server.end()


def _collect_file(source: Source, renames: list[Rename], server: LanguageServer, outcome: Outcome) -> None:
    server.open(source)
    for rename in renames:
        try:
            _collect_one(rename, source, server, outcome)
        except (LookupError, ValueError) as error:
            outcome.problems.append(f"{rename}: {type(error).__name__}: {error}")
    server.close(source)


def _collect_one(rename: Rename, source: Source, server: LanguageServer, outcome: Outcome) -> None:
    if not IDENTIFIER.match(rename.new):
        raise ValueError(f"{rename.new!r} is not an identifier")
    at, name, function = definition(source, rename.key)
    if function is not None and rename.new in _names(function):
        raise ValueError(f"{rename.new} is used in that function already")
    if function is None and "." not in rename.key and rename.new in _bound(source.tree):
        raise ValueError(f"{rename.new} is bound in that module already")
    if not _collect_references(rename, at, server, outcome):
        raise LookupError("no reference found, not even the definition")
    if function is not None:
        # Comprehensions and lambdas of the function are scopes of their own.
        for other in _bindings(source, function, name):
            if (rename.path, other) not in outcome.edits:
                _collect_references(rename, other, server, outcome)
    for edit in _pytest_edits(source, rename, name, function):
        outcome.add(edit, rename)


def _collect_references(rename: Rename, at: Position, server: LanguageServer, outcome: Outcome) -> bool:
    edits = list(server.references(rename.path, at, rename.new))
    for path, edit in edits:
        ends = (edit["range"]["start"], edit["range"]["end"])
        start, end = (Position(side["line"], side["character"]) for side in ends)
        outcome.add(Edit(path, start, end, edit["newText"]), rename)
    return bool(edits)


def _bindings(source: Source, function: ast.AST, name: str) -> Iterator[Position]:
    """Where a function and the comprehensions and lambdas in it bind a name; functions inside it are left out."""
    for node in _within(function):
        if isinstance(node, ast.arg):
            bound = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound = node.id
        else:
            continue
        if bound == name:
            yield source.position(node.lineno, node.col_offset)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield child
            yield from _within(child)


def _names(function: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def _bound(tree: ast.Module) -> set[str]:
    names = {node.name for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    return names | {
        node.id for node in statements_of(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _pytest_edits(source: Source, rename: Rename, name: str, function: ast.AST | None) -> Iterator[Edit]:
    """What pytest and hypothesis connect by name: fixtures, `parametrize` strings, keywords of `given`."""
    if isinstance(function, FUNCTIONS):
        yield from _decorator_edits(source, function, name, rename.new)
        return
    scope = [node for node in ast.walk(source.tree) if isinstance(node, FUNCTIONS) and node.name == name]
    if not any("fixture" in ast.unparse(mark) for node in scope for mark in node.decorator_list):
        return
    folder = Path(rename.path).parent
    files = [rename.path]
    if Path(rename.path).name == "conftest.py":
        files = sorted(str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*.py"))
    for path in files:
        yield from _fixture_edits(source if path == rename.path else Source(path), name, rename.new)


def _decorator_edits(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, new: str
) -> Iterator[Edit]:
    if name not in {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}:
        return
    for mark in function.decorator_list:
        for node in ast.walk(mark):
            if isinstance(node, ast.keyword) and node.arg == name:
                yield _edit(source, source.position(node.lineno, node.col_offset), name, new)
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize"):
            for node in ast.walk(mark.args[0]):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    for match in re.finditer(rf"\b{name}\b", node.value):
                        start = source.position(node.lineno, node.col_offset)
                        yield _edit(source, Position(start.line, start.column + 1 + match.start()), name, new)


def _fixture_edits(source: Source, name: str, new: str) -> Iterator[Edit]:
    for function in ast.walk(source.tree):
        if not isinstance(function, FUNCTIONS):
            continue
        if name in {argument.arg for argument in function.args.args}:
            for node in ast.walk(function):
                if (isinstance(node, ast.arg) and node.arg == name) or (isinstance(node, ast.Name) and node.id == name):
                    yield _edit(source, source.position(node.lineno, node.col_offset), name, new)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("usefixtures", "getfixturevalue")):
            for argument in node.args:
                if isinstance(argument, ast.Constant) and argument.value == name:
                    start = source.position(argument.lineno, argument.col_offset)
                    yield _edit(source, Position(start.line, start.column + 1), name, new)


def _edit(source: Source, start: Position, name: str, new: str) -> Edit:
    if not source.holds(start, name):
        raise LookupError(f"{source.path}:{start.line + 1} does not hold {name}")
    return Edit(source.path, start, Position(start.line, start.column + len(name)), new)


def apply_edits(edits: list[Edit], originals: dict[str, str]) -> None:
    """Writes the original texts with these edits made; positions are those of the original texts."""
    by_file: dict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_file[edit.path].append(edit)
    for path, changes in by_file.items():
        lines = originals.setdefault(path, (ROOT / path).read_text(encoding="utf-8")).split("\n")
        for edit in sorted(changes, key=lambda change: change.start, reverse=True):
            if edit.start.line != edit.end.line:
                raise SystemExit(f"{path}:{edit.start.line + 1}: an edit over several lines")
            line = lines[edit.start.line]
            lines[edit.start.line] = line[: edit.start.column] + edit.text + line[edit.end.column :]
        (ROOT / path).write_text("\n".join(lines), encoding="utf-8")


def commit_tables(tables: list[Path], outcome: Outcome) -> None:
    """One commit per table: the edits of all tables so far, on the original texts."""
    originals: dict[str, str] = {}
    applied: set[str] = set()
    for table in tables:
        applied.add(table.stem)
        apply_edits([edit for edit, rename in outcome.edits.values() if rename.table in applied], originals)
        message = f"Names: {table.stem.replace('_', ' ')}, by its rename table"
        subprocess.run(["git", "commit", "-qam", message], cwd=ROOT, check=False)  # noqa: S607


def move_modules(moves: dict[str, str]) -> None:
    """Moves files, then renames dotted names, imports and paths in every text of the repository."""
    for old, new in moves.items():
        subprocess.run(["git", "mv", old, new], cwd=ROOT, check=True)  # noqa: S607
    listing = ["git", "ls-files", "-co", "--exclude-standard"]
    tracked = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in tracked.splitlines():
        path = ROOT / name
        if path.suffix in TEXT_SUFFIXES and path.is_file() and "rename" not in path.name:
            _follow_moves(path, moves)


def _follow_moves(path: Path, moves: dict[str, str]) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    before = text
    for old, new in moves.items():
        old_dotted, new_dotted = _dotted(old), _dotted(new)
        text = re.sub(rf"(?<![\w.]){re.escape(old_dotted)}(?!\w)", new_dotted, text)
        short_old, short_new = "/".join(old.split("/")[-2:]), "/".join(new.split("/")[-2:])
        text = re.sub(rf"(?<!\w){re.escape(short_old)}(?!\w)", short_new, text)
        package, _, name = old_dotted.rpartition(".")
        new_package, _, new_name = new_dotted.rpartition(".")
        if package != new_package:
            continue  # imports of a module that changes its package are edited by hand
        pattern = rf"(?m)^([ \t]*from {re.escape(package)} import )([^\n(]*|\([^)]*\))"
        if any(re.search(rf"\b{name}\b", match[2]) for match in re.finditer(pattern, text)) and path.suffix == ".py":
            renamed = partial(_rename_in_import, name, new_name)
            text = re.sub(pattern, renamed, text)
            text = _rename_global(text, name, new_name)
    if text != before:
        path.write_text(text, encoding="utf-8")


def _rename_in_import(name: str, new: str, match: re.Match[str]) -> str:
    return match[1] + re.sub(rf"\b{name}\b", new, match[2])


def _dotted(path: str) -> str:
    parts = list(Path(path).with_suffix("").parts)
    while parts[0] in ("src", "kernels"):
        parts.pop(0)
    return ".".join(parts)


def _rename_global(text: str, name: str, new: str) -> str:
    lines = text.split("\n")
    source_lines = [line.encode() for line in lines]
    spots = sorted(
        (
            (node.lineno - 1, len(source_lines[node.lineno - 1][: node.col_offset].decode()))
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Name) and node.id == name
        ),
        reverse=True,
    )
    for line, column in spots:
        lines[line] = lines[line][:column] + new + lines[line][column + len(name) :]
    return "\n".join(lines)


def read_tables(paths: list[Path]) -> tuple[list[Rename], dict[str, str]]:
    renames, moves = [], {}
    for path in paths:
        for path_of_file, entries in tomli.loads(path.read_text(encoding="utf-8")).items():
            for key, new in entries.items():
                if key == "file":
                    moves[path_of_file] = new
                else:
                    renames.append(Rename(path.stem, path_of_file, key, new))
    return renames, moves


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--servers", type=int, default=2, help="language servers at work at the same time (default: 2)")
    parser.add_argument("--check", action="store_true", help="report problems, edit nothing")
    parser.add_argument("--commit", action="store_true", help="one commit per table; moves of modules are left to you")
    options = parser.parse_args()
    renames, moves = read_tables(options.tables)
    outcome = Outcome()
    collect(renames, options.servers, outcome)
    for problem in outcome.problems:
        print(problem)
    if options.commit:
        commit_tables(options.tables, outcome)
    elif not options.check:
        apply_edits([edit for edit, _ in outcome.edits.values()], {})
    if not options.check:
        move_modules(moves)
    print(f"{len(renames)} renames, {len(outcome.edits)} edits, {len(moves)} moves, {len(outcome.problems)} problems")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
