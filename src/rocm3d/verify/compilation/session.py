"""Compiles a repository: copies it, finds its extensions, hipifies their sources and compiles all units."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.verify.compilation import diagnostics, program
from rocm3d.verify.compilation.build_script import Machine
from rocm3d.verify.compilation.classify import Codes, Problem, problems
from rocm3d.verify.compilation.compile_side import HOST, Bench
from rocm3d.verify.compilation.content_cache import ContentCache
from rocm3d.verify.compilation.extensions import Finder, Found
from rocm3d.verify.compilation.flag_check import FlagCheck
from rocm3d.verify.compilation.pool import Job, compile_all
from rocm3d.verify.compilation.translation import Translation
from rocm3d.verify.compilation.unit import Unit, units
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.scratch import guarded_scratch_folder

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.compilation import Diagnostic, CompileResult
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Extension
    from rocm3d.toolchain.hipify import HipifyResult, Hipify
    from rocm3d.verify.compilation.declared import Declared
    from rocm3d.verify.compilation.kit import Kit
    from rocm3d.workspace.tree import Tree

SECONDS = 600.0
CACHE = "compile"

Told = Callable[[str], None]


def _silent(message: str) -> None:
    """Drops progress messages."""


@dataclass(frozen=True)
class Request:
    """What to compile: a tree, the extensions that scan found, and the targets. `seconds`: limit per compile."""

    tree: Tree
    extensions: Sequence[Extension]
    targets: tuple[str, ...]
    knowledge: Knowledge
    findings: Sequence[Finding] = ()
    interpreter: Path | None = None
    seconds: float = SECONDS
    only: Callable[[str], bool] = lambda _: True  # by the source's path
    told: Told = _silent


@dataclass(frozen=True)
class UnitReport:
    """Results of one unit by side, and its problems at positions of the repository."""

    unit: Unit
    sides: dict[str, CompileResult]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Report:
    """Results of a repository. `missing`: sources that do not exist. `untranslated`: hipify's errors by source."""

    found: tuple[Found, ...]
    flags: tuple[Problem, ...]
    units: tuple[UnitReport, ...]
    missing: tuple[str, ...]
    untranslated: dict[str, str]
    hipify: str


@dataclass
class Workplace:
    """A copy of the repository to run build scripts and hipify on; both write next to their inputs."""

    folder: Path
    tree: Path
    found: tuple[Found, ...] = ()
    _written: dict[str, str] = field(default_factory=dict)


@contextmanager
def workplace(request: Request) -> Iterator[Workplace]:
    """Copies the tree. The copy is removed afterwards, even if this process is killed."""
    with guarded_scratch_folder() as folder:
        tree = folder.resolve() / "tree"
        for path in request.tree.paths():
            data = request.tree.read(path)
            if data is not None:
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(data)
        yield Workplace(folder.resolve(), tree)


def compile_repository(request: Request, kit: Kit) -> Report:
    """Compiles every unit for every target and for the host."""
    assert kit.torch is not None
    codes = Codes.of(request.knowledge.codes)
    with workplace(request) as place:
        scripts = list(_scripts(request, kit, place))
        hipified = _translate(place, kit, scripts)
        originals = {made: source for source, made in hipified.written.items()}
        compiler = replace(kit.compiler, cwd=place.tree)
        out = place.folder / "out"
        out.mkdir()
        check = FlagCheck(compiler, out, codes)
        scripts, flags = _checked(scripts, check, place.tree)
        todo = list(_units(scripts, place.tree, hipified.written, kit, request))
        bench = Bench(kit, compiler, place.tree, out, codes, request.seconds, originals)
        cache = ContentCache(ResultCache.open(CACHE), place.tree, kit.roots)
        sides = _compile(todo, bench, cache, kit, request)
        translation = Translation(place.tree, originals)
        reports = tuple(
            UnitReport(unit, sides[unit], problems(_errors(sides[unit]), translation, codes)) for unit in todo
        )
        missing = tuple(sorted({name for item in scripts for name in _missing(item, place.tree)}))
    return Report(tuple(scripts), flags, reports, missing, hipified.failed, hipified.version)


@dataclass(frozen=True)
class _Translated:
    version: str
    written: dict[str, str]  # by the original
    failed: dict[str, str]


def _scripts(request: Request, kit: Kit, place: Workplace) -> Iterator[Found]:
    assert kit.torch is not None
    gfx = request.targets[0]
    target = request.knowledge.targets.get(gfx)
    machine = Machine(kit.torch.version, kit.compiler.about.hip, gfx, target.wave_size if target else 64)
    finder = Finder(place.tree, machine, request.findings, request.knowledge.codes, request.interpreter)
    yield from finder.find(request.extensions)


def _translate(place: Workplace, kit: Kit, scripts: Sequence[Found]) -> _Translated:
    """Hipifies as torch does: setup.py extensions together in the script's folder, each JIT extension separately."""
    assert kit.torch is not None
    version = ""
    written: dict[str, str] = {}
    failed: dict[str, str] = {}
    for found in scripts:
        loaded = [item for item in found.extensions if item.jit]
        for group in ([item for item in found.extensions if not item.jit], *([item] for item in loaded)):
            result = _hipified(group, place, kit.torch.hipify, posixpath.dirname(found.script))
            if result is None:
                continue
            version = result.version
            written |= {_name(source, place.tree): _name(made, place.tree) for source, made in result.files.items()}
            failed |= {_name(source, place.tree): why for source, why in result.failed.items()}
    return _Translated(version, written, failed)


def _hipified(group: Sequence[Declared], place: Workplace, hipify: Hipify, root: str) -> HipifyResult | None:
    sources = dict.fromkeys(place.tree / name for item in group for name in item.sources)
    there = [path for path in sources if path.is_file()]
    if not there:
        return None
    # Include folders outside the copy: hipify must not write there.
    named = dict.fromkeys(place.tree / name for item in group for name in item.include_dirs)
    folders = [path for path in named if path.is_relative_to(place.tree)]
    if not group[0].jit:
        return hipify.translate_sources(place.tree / root, there, folders)
    build = place.folder / "jit"
    build.mkdir(exist_ok=True)
    return hipify.translate_sources(build, there, folders, jit=True)


def _checked(scripts: Sequence[Found], check: FlagCheck, tree: Path) -> tuple[list[Found], tuple[Problem, ...]]:
    """Scripts without the flags that clang rejects, and those flags as problems, unless the script was only parsed."""
    kept, refused = [], []
    for found in scripts:
        extensions = []
        for item in found.extensions:
            bad = check.refused(item)
            extensions.append(item.without(set(bad)) if bad else item)
            refused += [] if found.note else [check.problem(flag, item, tree) for flag in bad]
        kept.append(replace(found, extensions=tuple(extensions)))
    return kept, tuple(dict.fromkeys(refused))


def _units(scripts: Sequence[Found], tree: Path, written: dict[str, str], kit: Kit, request: Request) -> Iterator[Unit]:
    """Each pair of source and flags once."""
    seen = set()
    for found in scripts:
        for item in found.extensions:
            for unit in units(item, tree, written, kit.torch):
                if request.only(unit.source) and (unit.source, unit.flags) not in seen:
                    seen.add((unit.source, unit.flags))
                    yield unit


def _compile(
    todo: Sequence[Unit], bench: Bench, cache: ContentCache, kit: Kit, request: Request
) -> dict[Unit, dict[str, CompileResult]]:
    base = (program.digest(), kit.digest, bench.codes.digest, *kit.search, *diagnostics.FLAGS, cache.names())
    jobs: dict[tuple[Unit, str], Job] = {}
    for unit in todo:
        for side in (HOST,) if unit.language == "c++" else (*request.targets, HOST):
            text = (bench.tree / unit.file).read_text(encoding="utf-8", errors="replace")
            key = cache.key(*base, side, unit.language, unit.file, *unit.flags, text)
            jobs[unit, side] = Job(key, lambda unit=unit, side=side: bench.compile(unit, side))  # type: ignore[misc]
    results = compile_all(
        jobs, cache, lambda name, side: request.told(f"{name[0].source} for {side.side}: {side.outcome}")
    )
    found: dict[Unit, dict[str, CompileResult]] = {unit: {} for unit in todo}
    for (unit, side), result in results.items():
        found[unit][side] = result
    return found


def _errors(sides: dict[str, CompileResult]) -> Iterator[Diagnostic]:
    for side in sides.values():
        yield from side.errors


def _missing(found: Found, tree: Path) -> list[str]:
    return [name for item in found.extensions for name in item.sources if not (tree / name).is_file()]


def _name(path: Path, tree: Path) -> str:
    return path.relative_to(tree).as_posix()
