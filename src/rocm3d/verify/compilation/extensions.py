"""Finds the extensions of a repository: by running its build scripts on a copy, otherwise from the inventory."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.verify.compilation.build_script import Answer, Machine, read_script
from rocm3d.verify.compilation.classify import Problem
from rocm3d.verify.compilation.declared import Declared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rocm3d.model.code import Code
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Extension

_DETECTION = "DETECT"
# Flags to use from a script that was parsed but not run: those that change the meaning of the source.
_MEANING = ("-D", "-U", "-I", "-std=")


@dataclass(frozen=True)
class Found:
    """The extensions of one script. `problem`: it would not build them on ROCm. `note`: it was parsed, not run."""

    script: str
    extensions: tuple[Declared, ...]
    problem: Problem | None = None
    note: str = ""


@dataclass(frozen=True)
class Finder:
    """`tree`: a copy that scripts may run on. `findings` locate the line where a script detects CUDA."""

    tree: Path
    machine: Machine
    findings: Sequence[Finding] = ()
    codes: Mapping[str, Code] = field(default_factory=dict)
    interpreter: Path | None = None

    def find(self, listed: Sequence[Extension]) -> Iterator[Found]:
        """Each script of the inventory, and each setup.py that imports torch's cpp_extension."""
        by_script: dict[str, list[Extension]] = {name: [] for name in _torch_setups(self.tree)}
        for item in listed:
            by_script.setdefault(item.location.path, []).append(item)
        built: set[str] = set()
        for script, items in sorted(by_script.items(), key=lambda item: _order(item[1])):
            if not _is_cmake(items):
                found = _without_twins(self._of_script(script, items), built)
                built |= {source for item in found.extensions for source in item.sources}
                yield found
                continue
            # Skip CMake targets whose sources a setup.py builds too: the same code without torch's flags.
            read = _distinct(as_read(item, self.tree) for item in items)
            others = tuple(item for item in read if not set(item.device_sources) <= built)
            if others:
                yield Found(script, others, note=f"{script} was parsed, not run")

    def _of_script(self, script: str, items: Sequence[Extension]) -> Found:
        honest = read_script(self.tree, script, self.machine, self.interpreter)
        if honest.has_device_code and not honest.error:
            return Found(script, _distinct(honest.extensions))
        other = read_script(self.tree, script, replace(self.machine, pretends_cuda_home=True), self.interpreter)
        if self.machine.cuda or not other.has_device_code:
            return _only_read(script, items, self.tree, honest)
        return Found(script, _distinct(other.extensions), problem=self._silent(script, honest, other))

    def _silent(self, script: str, honest: Answer, other: Answer) -> Problem:
        """The build stops on ROCm, or silently leaves out all device code."""
        sources = sum(len(item.device_sources) for item in other.extensions)
        if honest.error:
            message = f"the build stops with a ROCm torch: {honest.error}"
        else:
            message = f"builds no device code with a ROCm torch; device sources in the CUDA build: {sources}"
        # Errors first: a warning, such as a check for a visible GPU, does not stop the build on a GPU machine.
        for found in sorted(self.findings, key=lambda item: item.severity != "error"):
            code = self.codes.get(found.code)
            if found.path == script and code is not None and _DETECTION in code.kinds:
                return Problem(script, found.line, found.column, message, code.code, code.rule)
        return Problem(script, honest.line or 1, 0, message)


def _order(items: Sequence[Extension]) -> int:
    """Install scripts before modules that compile at import time, as those are skipped if already built."""
    return 2 if _is_cmake(items) else int(any(item.how == "jit" for item in items))


def _without_twins(found: Found, built: set[str]) -> Found:
    """Without JIT extensions whose sources another script builds: hipify would write both to the same files."""
    others = tuple(item for item in found.extensions if not (item.jit and set(item.device_sources) <= built))
    if len(others) == len(found.extensions):
        return found
    note = f"{found.script}: skipped its JIT extensions, another script builds the same sources"
    return replace(found, extensions=others, note=f"{found.note}; {note}" if found.note else note)


def _is_cmake(items: Sequence[Extension]) -> bool:
    return any(item.how == "cmake" for item in items)


def _torch_setups(tree: Path) -> list[str]:
    found = (path for path in tree.rglob("setup.py") if path.is_file() and b"cpp_extension" in path.read_bytes())
    return sorted(path.relative_to(tree).as_posix() for path in found)


def _only_read(script: str, items: Sequence[Extension], tree: Path, answer: Answer) -> Found:
    extensions = _distinct(as_read(item, tree) for item in items)
    why = answer.error or "it declares no device source"
    return Found(script, extensions, note=f"{script} was parsed, not run ({why}); flags set at run time are unknown")


def as_read(item: Extension, tree: Path) -> Declared:
    """An extension from the literals in its script."""
    script = item.location.path
    root = posixpath.dirname(script)

    def inside(path: str) -> str:
        return posixpath.normpath(posixpath.join(root, path))

    return Declared(
        name=item.name,
        script=script,
        line=item.location.line,
        root=root,
        sources=tuple(source for path in item.sources for source in _expanded(inside(path), tree)),
        include_dirs=tuple(inside(folder) for folder in item.include_dirs),
        macros=tuple(f"-D{macro}" for macro in item.macros),
        host_flags=tuple(flag for flag in item.flags if flag.startswith(_MEANING)),
        device_flags=tuple(flag for flag in item.device_flags if flag.startswith(_MEANING)),
        uses_torch=item.how != "cmake",
        jit=item.how == "jit",
    )


def _expanded(path: str, tree: Path) -> list[str]:
    if not any(sign in path for sign in "*?["):
        return [path]
    return sorted(source.relative_to(tree).as_posix() for source in tree.glob(path))


def _distinct(extensions: Iterator[Declared] | tuple[Declared, ...]) -> tuple[Declared, ...]:
    """Without duplicates, as when a module declares one extension in two branches."""
    found: dict[tuple[object, ...], Declared] = {}
    for item in extensions:
        found.setdefault((item.name, item.sources, item.device_flags, item.macros), item)
    return tuple(found.values())
