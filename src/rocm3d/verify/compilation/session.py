"""Compiles a repository: copies it, finds its extensions, hipifies their sources and compiles all units."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Extension
from rocm3d.model.verdict import CompileResult
from rocm3d.toolchain.compiler import Compiler
from rocm3d.toolchain.hipify import Hipify, HipifyResult
from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.build_script import DeclaredExtension, SimulatedMachine
from rocm3d.verify.compilation.classify import (
    CompileProblem,
    ErrorCodes,
    HipifySourceMap,
    classify_errors,
    position_key,
)
from rocm3d.verify.compilation.compile_options import Budget, ignore_progress
from rocm3d.verify.compilation.compile_side import HOST, HipUnitCompiler
from rocm3d.verify.compilation.content_cache import CompileJob, ContentCache, compile_all, program_digest
from rocm3d.verify.compilation.extensions import ExtensionFinder, ScriptExtensions
from rocm3d.verify.compilation.kit import CompileKit
from rocm3d.verify.compilation.translation_unit import FlagCheck, TranslationUnit, translation_units
from rocm3d.workspace.process import guarded_scratch_folder
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.sandbox import Sandbox, interpreter_paths
from rocm3d.workspace.tree import Tree

SECONDS = 600.0
CACHE = "compile"


@dataclass(frozen=True)
class CompileRequest:
    """What to compile: a tree, the extensions that scan found, and the targets. `seconds`: limit per compile.

    `sandboxed`: build scripts, hipify and compilers run in a sandbox.
    """

    tree: Tree
    extensions: Sequence[Extension]
    targets: tuple[str, ...]
    knowledge: Knowledge
    findings: Sequence[Finding] = ()
    interpreter: Path | None = None
    seconds: float = SECONDS
    only: Callable[[str], bool] = lambda _: True  # by the source's path
    progress: Callable[[str], None] = ignore_progress
    budget: Budget = field(default_factory=Budget)
    sandboxed: bool = False


@dataclass(frozen=True)
class UnitReport:
    """Results of one unit by side, and the problems of each side at positions of the repository."""

    unit: TranslationUnit
    sides: dict[str, CompileResult]
    problems_by_side: dict[str, tuple[CompileProblem, ...]]

    @property
    def problems(self) -> tuple[CompileProblem, ...]:
        """Those of all sides, each position once."""
        by_position = {
            (problem.path, problem.line, problem.message): problem
            for problems in reversed(self.problems_by_side.values())
            for problem in problems
        }
        return tuple(sorted(by_position.values(), key=position_key))


@dataclass(frozen=True)
class CompileReport:
    """Results of a repository. `missing`: sources that do not exist. `untranslated`: hipify's errors by source.

    `unsupported`: targets that the compiler does not know. `translated`: files that hipify changed.
    """

    scripts: tuple[ScriptExtensions, ...]
    flags: tuple[CompileProblem, ...]
    units: tuple[UnitReport, ...]
    missing: tuple[str, ...]
    untranslated: dict[str, str]
    hipify: str
    unsupported: tuple[str, ...] = ()
    translated: tuple[str, ...] = ()


@dataclass(frozen=True)
class RepositoryCopy:
    """A copy of the repository to run build scripts and hipify on; both write next to their inputs.

    `sandbox`: where programs run on it; it shows the folder.
    """

    folder: Path
    tree: Path
    sandbox: Sandbox | None = None


@contextmanager
def repository_copy(request: CompileRequest, readable: Sequence[Path]) -> Iterator[RepositoryCopy]:
    """Copies the tree. The copy is removed afterwards, even if this process is killed.

    `readable`: what the sandbox shows besides the copy.
    """
    with guarded_scratch_folder() as folder:
        tree = folder.resolve() / "tree"
        tree.mkdir()
        for path in request.tree.paths():
            data = request.tree.read(path)
            if data is not None:
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(data)
        interpreter = interpreter_paths(request.interpreter) if request.interpreter else ()
        sandbox = Sandbox(folder.resolve(), (folder.resolve(), *readable, *interpreter)) if request.sandboxed else None
        yield RepositoryCopy(folder.resolve(), tree, sandbox)


def compile_repository(request: CompileRequest, kit: CompileKit) -> CompileReport:
    """Compiles every unit for every target and for the host."""
    codes = ErrorCodes.of(request.knowledge.codes)
    request.budget.start()
    with repository_copy(request, kit.paths) as copy:
        scripts = _find_scripts(request, kit, copy)
        request.progress("translating the sources with hipify")
        hipified = _hipify_scripts(copy, kit, scripts)
        originals = {hip_file: source for source, hip_file in hipified.written.items()}
        compiler = replace(kit.compiler, cwd=copy.tree, sandbox=copy.sandbox)
        out = copy.folder / "out"
        out.mkdir()
        unsupported = tuple(gfx for gfx in request.targets if not _supports(compiler, gfx, out))
        request = replace(request, targets=tuple(gfx for gfx in request.targets if gfx not in unsupported))
        check = FlagCheck(compiler, out, codes)
        scripts, flags = _without_rejected_flags(scripts, check, copy.tree)
        all_units = _units(scripts, copy.tree, hipified.written, kit, request)
        unit_compiler = HipUnitCompiler(
            kit, compiler, copy.tree, out, codes, request.seconds, originals, request.budget
        )
        cache = content_cache(copy, kit.roots)
        sides = _compile_units(all_units, unit_compiler, cache, kit, request)
        translation = HipifySourceMap(copy.tree, originals)
        reports = tuple(
            UnitReport(
                unit,
                sides[unit],
                {name: classify_errors(side.errors, translation, codes) for name, side in sides[unit].items()},
            )
            for unit in all_units
        )
        sources = {name for script in scripts for item in script.extensions for name in item.sources}
        missing = tuple(sorted(name for name in sources if not (copy.tree / name).is_file()))
    return CompileReport(
        tuple(scripts), flags, reports, missing, hipified.failed, hipified.version, unsupported,
        tuple(source for source, hip_file in hipified.written.items() if source != hip_file),
    )  # fmt: skip


def content_cache(copy: RepositoryCopy, roots: tuple[Path, ...]) -> ContentCache:
    """The cache for compiles of this copy."""
    store = ResultCache.open(CACHE)
    shows = (lambda _: True) if copy.sandbox is None else copy.sandbox.shows
    return ContentCache(store, copy.tree, roots, shows)


def _supports(compiler: Compiler, gfx: str, out: Path) -> bool:
    """Whether the compiler knows the target: by its list, else by compiling an empty file."""
    if compiler.about.targets:
        return gfx in compiler.about.targets
    source, output = out / "target.hip", out / f"target-{gfx}" / "unit.o"
    source.touch()
    output.parent.mkdir()
    return compiler.compile_device(source, gfx, output, ("-w",), SECONDS).output is not None


@dataclass(frozen=True)
class _HipifiedFiles:
    version: str
    written: dict[str, str]  # by the original
    failed: dict[str, str]


def _find_scripts(request: CompileRequest, kit: CompileKit, copy: RepositoryCopy) -> list[ScriptExtensions]:
    gfx = request.targets[0]
    target = request.knowledge.targets.get(gfx)
    machine = SimulatedMachine(kit.torch.version, kit.compiler.about.hip, gfx, target.wave_size if target else 64)
    finder = ExtensionFinder(
        copy.tree, machine, request.findings, request.knowledge.codes, request.interpreter,
        copy.sandbox, request.budget, request.progress,
    )  # fmt: skip
    return list(finder.find(request.extensions))


def _hipify_scripts(copy: RepositoryCopy, kit: CompileKit, scripts: Sequence[ScriptExtensions]) -> _HipifiedFiles:
    """Hipifies as torch does: setup.py extensions together in the script's folder, each JIT extension separately."""
    version = ""
    written: dict[str, str] = {}
    failed: dict[str, str] = {}
    for script in scripts:
        jit_extensions = [item for item in script.extensions if item.jit]
        for group in ([item for item in script.extensions if not item.jit], *([item] for item in jit_extensions)):
            hipify = replace(kit.torch.hipify, sandbox=copy.sandbox)
            result = _hipify_group(group, copy, hipify, posixpath.dirname(script.script))
            if result is None:
                continue
            version = result.version
            written |= {
                _relative_path(source, copy.tree): _relative_path(hip_file, copy.tree)
                for source, hip_file in result.files.items()
            }
            failed |= {_relative_path(source, copy.tree): why for source, why in result.failed.items()}
    return _HipifiedFiles(version, written, failed)


def _hipify_group(
    group: Sequence[DeclaredExtension], copy: RepositoryCopy, hipify: Hipify, root: str
) -> HipifyResult | None:
    sources = dict.fromkeys(copy.tree / name for item in group for name in item.sources)
    existing = [path for path in sources if path.is_file()]
    if not existing:
        return None
    # Include folders outside the copy: hipify must not write there.
    include_dirs = dict.fromkeys(copy.tree / name for item in group for name in item.include_dirs)
    folders = [path for path in include_dirs if path.is_relative_to(copy.tree)]
    if not group[0].jit:
        without_torch = not group[0].uses_torch
        return hipify.translate_sources(
            copy.tree / root, existing, folders, tree=copy.tree, without_torch=without_torch
        )
    build = copy.folder / "jit"
    build.mkdir(exist_ok=True)
    return hipify.translate_sources(build, existing, folders, jit=True, tree=copy.tree)


def _without_rejected_flags(
    scripts: Sequence[ScriptExtensions], check: FlagCheck, tree: Path
) -> tuple[list[ScriptExtensions], tuple[CompileProblem, ...]]:
    """Scripts without the flags that clang rejects, and those flags as problems, unless the script was only parsed."""
    remaining, rejected = [], []
    for script in scripts:
        extensions = []
        for item in script.extensions:
            rejected_flags = check.rejected_flags(item)
            extensions.append(item.without(set(rejected_flags)) if rejected_flags else item)
            rejected += [] if script.note else [check.problem(flag, item, tree) for flag in rejected_flags]
        remaining.append(replace(script, extensions=tuple(extensions)))
    return remaining, tuple(dict.fromkeys(rejected))


def _units(
    scripts: Sequence[ScriptExtensions], tree: Path, written: dict[str, str], kit: CompileKit, request: CompileRequest
) -> list[TranslationUnit]:
    """Each pair of source and flags once."""
    by_key: dict[tuple[str, tuple[str, ...]], TranslationUnit] = {}
    for item in (item for script in scripts for item in script.extensions):
        for unit in translation_units(item, tree, written, kit.torch):
            if request.only(unit.source):
                by_key.setdefault((unit.source, unit.flags), unit)
    return list(by_key.values())


def _compile_units(
    all_units: Sequence[TranslationUnit],
    unit_compiler: HipUnitCompiler,
    cache: ContentCache,
    kit: CompileKit,
    request: CompileRequest,
) -> dict[TranslationUnit, dict[str, CompileResult]]:
    key_parts = (
        program_digest(),
        kit.digest,
        "sandbox" if request.sandboxed else "",
        unit_compiler.codes.digest,
        *kit.search,
        *diagnostics.FLAGS,
        cache.names_digest(),
    )
    jobs: dict[tuple[TranslationUnit, str], CompileJob] = {}
    for unit in all_units:
        for side in (HOST,) if unit.language == "c++" else (*request.targets, HOST):
            text = (unit_compiler.tree / unit.file).read_text(encoding="utf-8", errors="replace")
            key = cache.key(*key_parts, side, unit.language, unit.file, *unit.flags, text)
            jobs[unit, side] = CompileJob(key, lambda unit=unit, side=side: unit_compiler.compile(unit, side))  # type: ignore[misc]
    by_unit: dict[TranslationUnit, dict[str, CompileResult]] = {unit: {} for unit in all_units}
    number = {unit: count for count, unit in enumerate(all_units, 1)}

    def store(name: tuple[TranslationUnit, str], result: CompileResult) -> None:
        unit, side = name
        by_unit[unit][side] = result
        if side == HOST:  # the last one
            outcomes = ", ".join(f"{one} {side.outcome.replace('_', ' ')}" for one, side in by_unit[unit].items())
            request.progress(f"unit {number[unit]} of {len(all_units)}, {unit.source}: {outcomes}")

    compile_all(jobs, cache, store)
    return by_unit


def _relative_path(path: Path, tree: Path) -> str:
    return path.relative_to(tree).as_posix()
