"""Whether the workloads of knowledge/ports name programs that their repositories have.

    python benchmarks/workloads.py --mirrors DIR [ID ...]

Reads the file names of bare mirrors (DIR/OWNER+NAME/repo), at the commit of the record, else at HEAD.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirrors import Mirror

from rocm3d.model.errors import UserError
from rocm3d.pipeline import load
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from rocm3d.model.port import Port, Workload

_INTERPRETERS = re.compile(r"python3?|bash|sh|torchrun|uv|run")
_SCRIPT = re.compile(r".+\.(py|sh)$")
_BUILD_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True)
class Program:
    """What a command runs: a file of the repository, or the name of an entry point."""

    name: str
    is_file: bool


def program(workload: Workload) -> Program | None:
    """The program of a workload; None if it has no command, or the command is its own program."""
    words = iter(workload.command)
    for word in words:
        if word == "-c":
            return None
        if word == "-m":
            path = next(words, "").replace(".", "/")
            return Program(posixpath.normpath(posixpath.join(workload.folder, f"{path}.py")), is_file=True)
        if _SCRIPT.match(word):
            return Program(posixpath.normpath(posixpath.join(workload.folder, word)), is_file=True)
        if not (word.startswith("-") or _INTERPRETERS.fullmatch(word)):
            return Program(word, is_file=False)
    return None


def problem(workload: Workload, paths: Collection[str], build_files: Sequence[str]) -> str:
    """Why the program does not exist; empty if it does. `build_files` are the texts of pyproject.toml and the like."""
    called = program(workload)
    if called is None:
        return ""
    if called.is_file:
        module = called.name.removesuffix(".py")
        exists = called.name in paths or f"{module}/__main__.py" in paths or f"src/{called.name}" in paths
        return "" if exists else f"has no {called.name}"
    declared = re.compile(rf"(?m)[\s\"']{re.escape(called.name)}[\"']?\s*=\s*[\"']?[\w.]+:")
    return "" if any(declared.search(text) for text in build_files) else f"declares no command {called.name}"


def check(port: Port, mirrors: Path) -> Iterator[str]:
    """One line about the workload of a port."""
    if port.workload is None or not port.workload.command:
        yield "no command"
        return
    try:
        mirror = Mirror.of(mirrors, port.repository).folder
    except UserError:
        yield "not checked: no mirror"
        return
    has_commit = bool(port.commit and _git(mirror, "cat-file", "-t", f"{port.commit}^{{commit}}"))
    commit = port.commit if has_commit else "HEAD"
    paths = _git(mirror, "ls-tree", "-r", "--name-only", commit).splitlines()
    texts = [_git(mirror, "show", f"{commit}:{name}") for name in _BUILD_FILES if name in paths]
    missing = problem(port.workload, frozenset(paths), texts)
    yield (
        f"not checked: the mirror lacks its commit, HEAD {missing}"
        if missing and not has_commit
        else (missing or f"exists at {commit}")
    )


def _git(mirror: Path, *arguments: str) -> str:
    return run(["git", "-C", str(mirror), *arguments]).stdout.decode("utf-8", "replace")


def main() -> int:
    """One line for each port; exit code 1 if a program does not exist."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    missing = 0
    for name, port in sorted(load().ports.items()):
        if options.ids and name not in options.ids:
            continue
        for line in check(port, options.mirrors):
            missing += line.startswith(("has no", "declares no"))
            command = " ".join(port.workload.command[:3]) if port.workload else ""
            print(f"{name:22} {line:45} {command}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
