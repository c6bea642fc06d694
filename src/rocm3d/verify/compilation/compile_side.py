"""Compiles one unit for one side, a target or the host, and reads the kernels back."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rocm3d.model.verdict import CompileResult, Diagnostic, KernelFacts
from rocm3d.toolchain import own_headers
from rocm3d.toolchain.code_object import CodeObjectError, read_code_object
from rocm3d.toolchain.compiler import Compiler, CompilerRun, read_output
from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.classify import ErrorCodes
from rocm3d.verify.compilation.compile_options import Budget
from rocm3d.verify.compilation.content_cache import read_dependencies
from rocm3d.verify.compilation.kit import CompileKit
from rocm3d.verify.compilation.translation_unit import TranslationUnit
from rocm3d.workspace.process import remove_folder

HOST = "host"
# torch compiles .cpp files with the host compiler, usually g++, which accepts a variable that narrows in braces.
_AS_GCC = ("-Wno-c++11-narrowing",)
_HEADER_NOT_COPIED = "'{}' is next to the original, but hipify writes the translated file to another folder"
_MAX_STUB_HEADERS = 12  # limit of missing headers to stub in one unit
UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class CacheableResult:
    """A result and the files that the compiler read. Not final (not cached) if it printed nothing, as when killed."""

    result: CompileResult
    files: tuple[Path, ...]
    is_final: bool = True


@dataclass(frozen=True)
class HipUnitCompiler:
    """Compiles units with HIP. `tree`: the hipified copy of the repository. `out`: folder for objects and stubs.

    `originals` maps each file that hipify wrote to its source. `seconds`: limit of one compiler.
    """

    kit: CompileKit
    compiler: Compiler
    tree: Path
    out: Path
    codes: ErrorCodes
    seconds: float
    originals: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    def compile(self, unit: TranslationUnit, side: str) -> CacheableResult:
        """A header that HIP does not have is an error. A stub for it lets the compiler report the other errors too."""
        cut_off = CacheableResult(CompileResult(side=side, outcome="cut_off"), (), is_final=False)
        if self.budget.is_over:
            return cut_off
        # The compiler writes to its own folder only: it may run code of the repository, and stubs are written by us.
        name = UNSAFE_CHARACTERS.sub("_", f"{unit.extension}-{unit.file}-{side}")
        output_folder, stub_folder = self.out / name, self.out / f"{name}.stand-ins"
        output_folder.mkdir(exist_ok=True)
        missing_headers: list[Diagnostic] = []
        for _ in range(_MAX_STUB_HEADERS):
            run, files = self._compile_once(unit, side, output_folder / "unit", stub_folder)
            errors = diagnostics.parse_errors(run.messages)
            missing = next((error for error in errors if diagnostics.missing_header(error)), None)
            if missing is None:
                break
            header = str(diagnostics.missing_header(missing))
            original_header = self._header_next_to_original(missing, header)
            if original_header is None and not self._concerns_port(missing):
                break
            missing_headers.append(
                missing
                if original_header is None
                else missing.model_copy(update={"message": _HEADER_NOT_COPIED.format(header)})
            )
            if not _is_below(header) or (original_header is not None and missing.path != unit.file):
                # hipify moved only part of a library: every further header would fail the same way.
                errors = tuple(error for error in errors if error != missing)
                break
            stub = stub_folder / header
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text("" if original_header is None else f'#include "{original_header}"\n', encoding="utf-8")
        if run.stopped and self.budget.is_over:
            return cut_off
        result = self._to_side(side, run, (*missing_headers, *errors), files)
        return CacheableResult(result, tuple(files), is_final=run.output is not None or bool(errors))

    def _compile_once(
        self, unit: TranslationUnit, side: str, base: Path, stub_folder: Path
    ) -> tuple[CompilerRun, list[Path]]:
        dependency_file = base.with_name(f"{base.name}.d")
        # Not -MD: the driver ignores it in device compiles.
        dependency_flags = ("-dependency-file", str(dependency_file), "-MT", "it", "-sys-header-deps")
        diagnostic_flags = (*diagnostics.FLAGS, *(word for item in dependency_flags for word in ("-Xclang", item)))
        flags = (*unit.flags, *self.kit.search, f"-isystem{stub_folder}", *diagnostic_flags)
        source, output = Path(unit.file), base.with_name(f"{base.name}.o")
        for earlier in (dependency_file, output):
            _remove(earlier)
        seconds = min(self.seconds, self.budget.remaining)
        if unit.language == "c++":
            run = self.compiler.compile_cpp(source, output, (*flags, *_AS_GCC, "-O0"), seconds)
        elif side == HOST:
            # -O0 is faster and reports the same errors.
            run = self.compiler.compile_host(source, output, (*flags, "-O0"), seconds)
        else:
            run = self.compiler.compile_device(source, side, output, flags, seconds)
        dependencies = read_dependencies(dependency_file, self.tree)
        # A failed unit has no dependency file: the result then depends on all files of the repository.
        files = dependencies or [path for path in self.tree.rglob("*") if path.is_file()]
        return run, [path for path in files if not path.is_relative_to(stub_folder)]

    def _header_next_to_original(self, error: Diagnostic, name: str) -> Path | None:
        """A header next to the original: hipify wrote the including file to another folder without copying it."""
        including_file = Path(posixpath.normpath(self.tree / error.path))
        if not including_file.is_relative_to(self.tree):
            return None
        original = self.originals.get(including_file.relative_to(self.tree).as_posix())
        header = self.tree / Path(original or error.path).parent / name
        is_in_tree = Path(posixpath.normpath(header)).is_relative_to(self.tree)
        return header if original is not None and is_in_tree and header.is_file() else None

    def _concerns_port(self, error: Diagnostic) -> bool:
        """Whether the repository includes a header that a port must replace, not one of a library not installed."""
        is_repository_file = not Path(error.path).is_absolute() or Path(error.path).is_relative_to(self.tree)
        return is_repository_file and self.codes.find(f"{error.message}\n\n") is not None

    def _to_side(
        self, side: str, run: CompilerRun, errors: Sequence[Diagnostic], files: Sequence[Path]
    ) -> CompileResult:
        declared_headers = dict.fromkeys(name for path in files if (name := own_headers.include_name(path)))
        hip_headers = self.kit.hip_headers
        uses_hip_headers = hip_headers is not None and any(path.is_relative_to(hip_headers.resolve()) for path in files)
        base = CompileResult(
            side=side, outcome="failed", own_headers=tuple(declared_headers), given_headers=uses_hip_headers
        )
        if run.stopped:
            return base.model_copy(update={"outcome": "timed_out", "stopped": run.stopped})
        if run.output is None or errors:
            missing = [name for error in errors if (name := diagnostics.missing_header(error))]
            if missing and not self._concerns_port(errors[-1]) and diagnostics.missing_header(errors[-1]):
                return base.model_copy(update={"outcome": "lacks", "lacks": missing[-1], "errors": tuple(errors[:-1])})
            return base.model_copy(update={"errors": tuple(errors) or (_last_line_diagnostic(run.messages),)})
        try:
            kernels = () if side == HOST else read_kernels(run.output, side)
        except CodeObjectError as error:
            return base.model_copy(
                update={"errors": (_last_line_diagnostic(f"the output is not a code object for {side}: {error}"),)}
            )
        return base.model_copy(update={"outcome": "compiled", "kernels": kernels})


def read_kernels(file: Path, gfx: str) -> tuple[KernelFacts, ...]:
    """All kernels of a code object. Raises CodeObjectError if it is for another target."""
    data = read_output(file)
    if data is None:
        raise CodeObjectError("the compiler wrote no regular file")
    code = read_code_object(data)
    if code.gfx != gfx:
        raise CodeObjectError(f"it is for {code.gfx}")
    return code.kernels


def _is_below(header: str) -> bool:
    """Whether a path in #include stays below the folder that it is relative to."""
    path = PurePosixPath(header)
    return not path.is_absolute() and ".." not in path.parts


def _remove(path: Path) -> None:
    """Removes what an earlier compile left at this path."""
    if path.is_dir() and not path.is_symlink():
        remove_folder(path)
    else:
        path.unlink(missing_ok=True)


def _last_line_diagnostic(output: str) -> Diagnostic:
    lines = output.strip().splitlines()
    return Diagnostic(
        path="", line=0, column=0, message=lines[-1] if lines else "the compiler failed without a message"
    )
