"""Compiles one unit for one side, a target or the host, and reads the kernels back."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.compilation import Diagnostic, KernelFacts, CompileResult
from rocm3d.toolchain import own_headers
from rocm3d.toolchain.code_object import CodeObjectError, read_code_object
from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.content_cache import read_dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocm3d.toolchain.compiler import CompilerRun, Compiler
    from rocm3d.verify.compilation.classify import Codes
    from rocm3d.verify.compilation.kit import Kit
    from rocm3d.verify.compilation.unit import Unit

HOST = "host"
_MOVED = "'{}' is next to the original, but hipify writes the translated file to another folder"
_STAND_INS = 12  # limit of missing headers to stub in one unit
_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
# Size in bytes of s_endpgm: a kernel of this size does nothing.
_NOTHING = 4


@dataclass(frozen=True)
class Done:
    """A result and the files that the compiler read. Not final (not cached) if it printed nothing, as when killed."""

    result: CompileResult
    files: tuple[Path, ...]
    is_final: bool = True


@dataclass(frozen=True)
class Bench:
    """Compiles units with HIP. `tree`: the hipified copy of the repository. `out`: folder for objects.

    `originals` maps each file that hipify wrote to its source.
    """

    kit: Kit
    compiler: Compiler
    tree: Path
    out: Path
    codes: Codes
    seconds: float
    originals: Mapping[str, str] = field(default_factory=dict)

    def compile(self, unit: Unit, side: str) -> Done:
        """A header that HIP does not have is an error. A stub for it lets the compiler report the other errors too."""
        name = _SAFE.sub("_", f"{unit.extension}-{unit.file}-{side}")
        stand_ins = self.out / f"{name}.stand-ins"
        lacked: list[Diagnostic] = []
        for _ in range(_STAND_INS):
            ended, files = self._once(unit, side, self.out / name, stand_ins)
            found = diagnostics.errors(ended.messages)
            gone = next((error for error in found if diagnostics.missing_header(error)), None)
            if gone is None:
                break
            header = str(diagnostics.missing_header(gone))
            beside = self._beside(gone, header)
            if beside is None and not self._is_of_the_port(gone):
                break
            lacked.append(gone if beside is None else gone.model_copy(update={"message": _MOVED.format(header)}))
            if beside is not None and gone.path != unit.file:
                # hipify moved only part of a library: every further header would fail the same way.
                found = tuple(error for error in found if error != gone)
                break
            stand_in = stand_ins / header
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.write_text("" if beside is None else f'#include "{beside}"\n', encoding="utf-8")
        result = self._side(side, ended, (*lacked, *found), files)
        return Done(result, tuple(files), is_final=ended.output is not None or bool(found))

    def _once(self, unit: Unit, side: str, base: Path, stand_ins: Path) -> tuple[CompilerRun, list[Path]]:
        rule = base.with_name(f"{base.name}.d")
        rule.unlink(missing_ok=True)
        # Not -MD: the driver ignores it in device compiles.
        wanted = ("-dependency-file", str(rule), "-MT", "it", "-sys-header-deps")
        told = (*diagnostics.FLAGS, *(word for item in wanted for word in ("-Xclang", item)))
        flags = (*unit.flags, *self.kit.search, f"-isystem{stand_ins}", *told)
        source, output = Path(unit.file), base.with_name(f"{base.name}.o")
        if unit.language == "c++":
            ended = self.compiler.compile_cpp(source, output, (*flags, "-O0"), self.seconds)
        elif side == HOST:
            # -O0 is faster and reports the same errors.
            ended = self.compiler.compile_host(source, output, (*flags, "-O0"), self.seconds)
        else:
            ended = self.compiler.compile_device(source, side, output, flags, self.seconds)
        read = read_dependencies(rule, self.tree)
        # A failed unit has no dependency file: the result then depends on all files of the repository.
        files = read or [path for path in self.tree.rglob("*") if path.is_file()]
        return ended, [path for path in files if not path.is_relative_to(stand_ins)]

    def _beside(self, error: Diagnostic, name: str) -> Path | None:
        """A header next to the original: hipify wrote the including file to another folder without copying it."""
        asking = Path(posixpath.normpath(self.tree / error.path))
        if not asking.is_relative_to(self.tree):
            return None
        original = self.originals.get(asking.relative_to(self.tree).as_posix())
        place = self.tree / Path(original or error.path).parent / name
        return place if original is not None and place.is_file() else None

    def _is_of_the_port(self, error: Diagnostic) -> bool:
        """Whether the repository includes a header that a port must replace, not one of a library not installed."""
        asks = not Path(error.path).is_absolute() or Path(error.path).is_relative_to(self.tree)
        return asks and self.codes.find(f"{error.message}\n\n") is not None

    def _side(self, side: str, ended: CompilerRun, errors: Sequence[Diagnostic], files: Sequence[Path]) -> CompileResult:
        ours = dict.fromkeys(name for path in files if (name := own_headers.include_name(path)))
        given = self.kit.hip_headers
        used = given is not None and any(path.is_relative_to(given.resolve()) for path in files)
        base = CompileResult(side=side, outcome="failed", own_headers=tuple(ours), given_headers=used)
        if ended.timed_out:
            return base.model_copy(update={"outcome": "timed_out"})
        if ended.output is None or errors:
            away = [name for error in errors if (name := diagnostics.missing_header(error))]
            if away and not self._is_of_the_port(errors[-1]) and diagnostics.missing_header(errors[-1]):
                return base.model_copy(update={"outcome": "lacks", "lacks": away[-1], "errors": tuple(errors[:-1])})
            return base.model_copy(update={"errors": tuple(errors) or (_speechless(ended.messages),)})
        try:
            kernels = () if side == HOST else read_back(ended.output, side)
        except CodeObjectError as error:
            return base.model_copy(
                update={"errors": (_speechless(f"the output is not a code object for {side}: {error}"),)}
            )
        return base.model_copy(update={"outcome": "compiled", "kernels": kernels})


def read_back(file: Path, gfx: str) -> tuple[KernelFacts, ...]:
    """All kernels of a code object. Raises CodeObjectError if it is for another target."""
    code = read_code_object(file.read_bytes())
    if code.gfx != gfx:
        raise CodeObjectError(f"it is for {code.gfx}")
    return tuple(
        KernelFacts(
            name=kernel.name,
            wave_size=kernel.wave_size,
            vgprs=kernel.vgprs,
            sgprs=kernel.sgprs,
            lds_bytes=kernel.lds_bytes,
            scratch_bytes=kernel.scratch_bytes,
            spills=kernel.spills,
            empty=kernel.code_bytes <= _NOTHING,
        )
        for kernel in code.kernels
    )


def _speechless(said: str) -> Diagnostic:
    last = said.strip().splitlines()
    return Diagnostic(path="", line=0, column=0, message=last[-1] if last else "the compiler failed without a message")
