"""Finds the extensions of a repository: by running its build scripts on a copy, otherwise from the inventory."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocm3d.model.code import Code
from rocm3d.model.errors import MachineError
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Extension
from rocm3d.verify.compilation.build_script import (
    BuildScriptResult,
    DeclaredExtension,
    SimulatedMachine,
    run_build_script,
)
from rocm3d.verify.compilation.classify import CompileProblem
from rocm3d.verify.compilation.compile_options import Budget, ignore_progress
from rocm3d.workspace.sandbox import Sandbox

_DETECTION = "DETECT"
# Flags to use from a script that was parsed but not run: those that change the meaning of the source.
_SEMANTIC_FLAGS = ("-D", "-U", "-I", "-std=")


class BudgetError(MachineError):
    """The budget ended before anything was compiled."""


@dataclass(frozen=True)
class ScriptExtensions:
    """The extensions of one script. `problem`: it would not build them on ROCm. `note`: it was parsed, not run.

    `error`: why it could not be run; without extensions nothing is known of it then.
    """

    script: str
    extensions: tuple[DeclaredExtension, ...]
    problem: CompileProblem | None = None
    note: str = ""
    error: str = ""


@dataclass(frozen=True)
class ExtensionFinder:
    """`tree`: a copy that scripts may run on. `findings` locate the line where a script detects CUDA.

    `sandbox`: where they run; None runs them with the user's rights. `find` raises BudgetError when the budget ends.
    """

    tree: Path
    machine: SimulatedMachine
    findings: Sequence[Finding] = ()
    codes: Mapping[str, Code] = field(default_factory=dict)
    interpreter: Path | None = None
    sandbox: Sandbox | None = None
    budget: Budget = field(default_factory=Budget)
    progress: Callable[[str], None] = ignore_progress

    def find(self, inventory: Sequence[Extension]) -> Iterator[ScriptExtensions]:
        """Each script of the inventory, and each setup.py that imports torch's cpp_extension."""
        by_script: dict[str, list[Extension]] = {name: [] for name in _torch_setups(self.tree)}
        for item in inventory:
            by_script.setdefault(item.location.path, []).append(item)
        built: set[str] = set()
        for script, items in sorted(by_script.items(), key=lambda item: _script_order(item[1])):
            if not _is_cmake(items):
                script_extensions = _without_duplicates(self._run_script(script, items), built)
                built |= {source for item in script_extensions.extensions for source in item.sources}
                yield script_extensions
                continue
            # Skip CMake targets whose sources a setup.py builds too: the same code without torch's flags.
            parsed = _distinct(from_inventory(item, self.tree) for item in items)
            others = tuple(item for item in parsed if not set(item.device_sources) <= built)
            if others:
                yield ScriptExtensions(script, others, note=f"{script} was parsed, not run")

    def _run_script(self, script: str, items: Sequence[Extension]) -> ScriptExtensions:
        self.progress(f"running {script} with a stub of torch")
        rocm_result = self._run(script, self.machine)
        if rocm_result.has_device_code and not rocm_result.error:
            return ScriptExtensions(script, _distinct(rocm_result.extensions))
        cuda_result = self._run(script, replace(self.machine, pretends_cuda_home=True))
        if self.machine.cuda or not cuda_result.has_device_code:
            return _parsed_extensions(script, items, self.tree, rocm_result)
        return ScriptExtensions(
            script, _distinct(cuda_result.extensions), problem=self._build_problem(script, rocm_result, cuda_result)
        )

    def _run(self, script: str, machine: SimulatedMachine) -> BuildScriptResult:
        if self.budget.is_over:
            raise BudgetError(self.budget.reason)
        result = run_build_script(
            self.tree, script, machine, self.interpreter, self.sandbox, max(self.budget.remaining, 1.0)
        )
        if self.budget.is_over:
            raise BudgetError(self.budget.reason)
        return result

    def _build_problem(
        self, script: str, rocm_result: BuildScriptResult, cuda_result: BuildScriptResult
    ) -> CompileProblem:
        """The build stops on ROCm, or silently leaves out all device code."""
        sources = sum(len(item.device_sources) for item in cuda_result.extensions)
        if rocm_result.error:
            message = f"the build stops with a ROCm torch: {rocm_result.error}"
        else:
            message = f"builds no device code with a ROCm torch; device sources in the CUDA build: {sources}"
        # Errors first: a warning, such as a check for a visible GPU, does not stop the build on a GPU machine.
        for finding in sorted(self.findings, key=lambda item: item.severity != "error"):
            code = self.codes.get(finding.code)
            if finding.path == script and code is not None and _DETECTION in code.kinds:
                return CompileProblem(script, finding.line, finding.column, message, code.code, code.rule)
        return CompileProblem(script, rocm_result.line or 1, 0, message)


def _script_order(items: Sequence[Extension]) -> int:
    """Install scripts before modules that compile at import time, as those are skipped if already built."""
    return 2 if _is_cmake(items) else int(any(item.how == "jit" for item in items))


def _without_duplicates(script_extensions: ScriptExtensions, built: set[str]) -> ScriptExtensions:
    """Without JIT extensions whose sources another script builds: hipify would write both to the same files."""
    remaining = tuple(
        item for item in script_extensions.extensions if not (item.jit and set(item.device_sources) <= built)
    )
    if len(remaining) == len(script_extensions.extensions):
        return script_extensions
    note = f"{script_extensions.script}: skipped its JIT extensions, another script builds the same sources"
    return replace(
        script_extensions,
        extensions=remaining,
        note=f"{script_extensions.note}; {note}" if script_extensions.note else note,
    )


def _is_cmake(items: Sequence[Extension]) -> bool:
    return any(item.how == "cmake" for item in items)


def _torch_setups(tree: Path) -> list[str]:
    paths = (path for path in tree.rglob("setup.py") if path.is_file() and b"cpp_extension" in path.read_bytes())
    return sorted(path.relative_to(tree).as_posix() for path in paths)


def _parsed_extensions(
    script: str, items: Sequence[Extension], tree: Path, result: BuildScriptResult
) -> ScriptExtensions:
    extensions = _distinct(from_inventory(item, tree) for item in items)
    why = result.error or "it declares no device source"
    return ScriptExtensions(
        script,
        extensions,
        note=f"{script} was parsed, not run ({why}); flags set at run time are unknown",
        error=result.error,
    )


def from_inventory(extension: Extension, tree: Path) -> DeclaredExtension:
    """An extension from the literals in its script."""
    script = extension.location.path
    root = posixpath.dirname(script)

    def inside(path: str) -> str:
        return posixpath.normpath(posixpath.join(root, path))

    return DeclaredExtension(
        name=extension.name,
        script=script,
        line=extension.location.line,
        root=root,
        sources=tuple(source for path in extension.sources for source in _expand_glob(inside(path), tree)),
        include_dirs=tuple(inside(folder) for folder in extension.include_dirs),
        macros=tuple(f"-D{macro}" for macro in extension.macros),
        host_flags=tuple(flag for flag in extension.flags if flag.startswith(_SEMANTIC_FLAGS)),
        device_flags=tuple(flag for flag in extension.device_flags if flag.startswith(_SEMANTIC_FLAGS)),
        uses_torch=extension.how != "cmake",
        jit=extension.how == "jit",
    )


def _expand_glob(path: str, tree: Path) -> list[str]:
    if not any(sign in path for sign in "*?["):
        return [path]
    return sorted(source.relative_to(tree).as_posix() for source in tree.glob(path))


def _distinct(extensions: Iterator[DeclaredExtension] | tuple[DeclaredExtension, ...]) -> tuple[DeclaredExtension, ...]:
    """Without duplicates, as when a module declares one extension in two branches."""
    by_key: dict[tuple[object, ...], DeclaredExtension] = {}
    for item in extensions:
        by_key.setdefault((item.name, item.sources, item.device_flags, item.macros), item)
    return tuple(by_key.values())
