"""Ten modules and ten messages, drawn by a fixed seed, as they read in two checkouts: `read_aloud.py BEFORE AFTER`.

Prints Markdown: outlines of modules (docstrings, signatures) and texts of rules. Modules that were renamed are
followed through the tables given with --renames.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import tokenize
from pathlib import Path

import tomli

SEED = 20261116
DRAWN = 10
FOLDERS = ("src/rocm3d", "kernels/src/rocm3d_kernels")


def modules(checkout: Path) -> list[str]:
    paths = (path for folder in FOLDERS for path in (checkout / folder).rglob("*.py") if path.name != "__init__.py")
    return sorted(path.relative_to(checkout).as_posix() for path in paths)


def outline(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return "\n".join(_outlined(tree, ""))


def _outlined(node: ast.Module | ast.ClassDef | ast.FunctionDef, indent: str) -> list[str]:
    doc = ast.get_docstring(node)
    lines = [f'{indent}"""{doc}"""'] if doc else []
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            bases = ", ".join(map(ast.unparse, child.bases))
            lines += [f"{indent}class {child.name}{f'({bases})' if bases else ''}:", *_outlined(child, indent + "    ")]
        elif isinstance(child, ast.FunctionDef):
            result = f" -> {ast.unparse(child.returns)}" if child.returns else ""
            lines.append(f"{indent}def {child.name}({ast.unparse(child.args)}){result}")
            lines += _outlined(child, indent + "    ")[:1] if ast.get_docstring(child) else []
    return lines


def messages(checkout: Path) -> dict[str, str]:
    folder = checkout / "knowledge"
    tables = [
        tomli.loads(path.read_text(encoding="utf-8"))
        for path in (*folder.glob("codes.toml"), *folder.glob("rules/*/*/rule.toml"))
    ]
    codes = [code for table in tables for code in table.get("codes", [table])]
    return {code["code"]: f"{code['message']} / {code['hint']}" for code in codes}


def logical_lines(path: Path) -> int:
    """Statements and the like; no blank lines, comments or docstrings."""
    text = path.read_text(encoding="utf-8")
    with path.open("rb") as file:
        count = sum(token.type == tokenize.NEWLINE for token in tokenize.tokenize(file.readline))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return count - sum(
        isinstance(n, documented) and ast.get_docstring(n) is not None for n in ast.walk(ast.parse(text))
    )


def moved(tables: list[Path]) -> dict[str, str]:
    sections = [tomli.loads(path.read_text(encoding="utf-8")) for path in tables]
    return {file: entries["file"] for table in sections for file, entries in table.items() if "file" in entries}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--renames", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    chance = random.Random(SEED)  # noqa: S311
    new_names = moved(options.renames)
    for path in chance.sample(modules(options.before), DRAWN):
        new = new_names.get(path, path)
        for title, checkout, name in (("before", options.before, path), ("after", options.after, new)):
            print(f"\n`{name}`, {title}:\n\n```python\n{outline(checkout / name)}\n```")
    for title, checkout in (("before", options.before), ("after", options.after)):
        paths = [checkout / name for name in modules(checkout)]
        print(f"\n{title}: {len(paths)} modules, {sum(map(logical_lines, paths))} logical lines")
    before, after = messages(options.before), messages(options.after)
    print("\n| code | before | after |\n|---|---|---|")
    for code in chance.sample(sorted(before), DRAWN):
        print(f"| {code} | {before[code]} | {after[code]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
