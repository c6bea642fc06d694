"""One compile of one unit: down to code for a target, or to an object for the host, and what was read back of it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.compilation import Diagnostic, KernelFacts, Side
from rocm3d.toolchain import own_headers
from rocm3d.toolchain.code_object import NotACodeObject, read_code_object
from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.content_cache import read_dependencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocm3d.toolchain.compiler import Compiled, Compiler
    from rocm3d.verify.compilation.classify import Codes
    from rocm3d.verify.compilation.kit import Kit
    from rocm3d.verify.compilation.unit import Unit

HOST = "host"
_MOVED = "'{}' lies beside the original, and not where hipify puts the translated file"
_STAND_INS = 12  # headers that HIP lacks, in one unit
_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
# s_endpgm alone: the kernel does nothing.
_NOTHING = 4


@dataclass(frozen=True)
class Done:
    """A result, and the files it was made of. Not final where the compiler said nothing, as one that was killed."""

    result: Side
    files: tuple[Path, ...]
    is_final: bool = True


@dataclass(frozen=True)
class Bench:
    """Where compiling happens: `tree` is the translated copy, `out` takes what is made.

    `originals` names for each file that hipify wrote the one it was made of.
    """

    kit: Kit
    compiler: Compiler
    tree: Path
    out: Path
    codes: Codes
    seconds: float
    originals: Mapping[str, str] = field(default_factory=dict)

    def compile(self, unit: Unit, side: str) -> Done:
        """A header that HIP lacks is an error, and one in its place lets the compiler tell the rest."""
        name = _SAFE.sub("_", f"{unit.extension}-{unit.file}-{side}")
        stand_ins = self.out / f"{name}.stand-ins"
        lacked: list[Diagnostic] = []
        for _ in range(_STAND_INS):
            ended, files = self._once(unit, side, self.out / name, stand_ins)
            found = diagnostics.errors(ended.said)
            gone = next((error for error in found if diagnostics.missing_header(error)), None)
            if gone is None:
                break
            header = str(diagnostics.missing_header(gone))
            beside = self._beside(gone, header)
            if beside is None and not self._is_of_the_port(gone):
                break
            lacked.append(gone if beside is None else gone.model_copy(update={"message": _MOVED.format(header)}))
            if beside is not None and gone.path != unit.file:
                # A library that was moved in half: there would be no end to it.
                found = tuple(error for error in found if error != gone)
                break
            stand_in = stand_ins / header
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.write_text("" if beside is None else f'#include "{beside}"\n', encoding="utf-8")
        result = self._side(side, ended, (*lacked, *found), files)
        return Done(result, tuple(files), is_final=ended.output is not None or bool(found))

    def _once(self, unit: Unit, side: str, base: Path, stand_ins: Path) -> tuple[Compiled, list[Path]]:
        rule = base.with_name(f"{base.name}.d")
        rule.unlink(missing_ok=True)
        # Not -MD, which the driver drops for a device.
        wanted = ("-dependency-file", str(rule), "-MT", "it", "-sys-header-deps")
        told = (*diagnostics.FLAGS, *(word for item in wanted for word in ("-Xclang", item)))
        flags = (*unit.flags, *self.kit.search, f"-isystem{stand_ins}", *told)
        source, output = Path(unit.file), base.with_name(f"{base.name}.o")
        if unit.language == "c++":
            ended = self.compiler.plain(source, output, (*flags, "-O0"), self.seconds)
        elif side == HOST:
            # Which errors there are does not depend on it, and it is faster.
            ended = self.compiler.host(source, output, (*flags, "-O0"), self.seconds)
        else:
            ended = self.compiler.device(source, side, output, flags, self.seconds)
        read = read_dependencies(rule, self.tree)
        # There is no rule of a unit that failed: then any file of the repository may be the reason.
        files = read or [path for path in self.tree.rglob("*") if path.is_file()]
        return ended, [path for path in files if not path.is_relative_to(stand_ins)]

    def _beside(self, error: Diagnostic, name: str) -> Path | None:
        """A header that lies beside the original: hipify has put what includes it into another folder, without it."""
        asking = Path(posixpath.normpath(self.tree / error.path))
        if not asking.is_relative_to(self.tree):
            return None
        original = self.originals.get(asking.relative_to(self.tree).as_posix())
        place = self.tree / Path(original or error.path).parent / name
        return place if original is not None and place.is_file() else None

    def _is_of_the_port(self, error: Diagnostic) -> bool:
        """Whether the repository asks for a header of CUDA or an old torch, and not for a library that is not here."""
        asks = not Path(error.path).is_absolute() or Path(error.path).is_relative_to(self.tree)
        return asks and self.codes.find(f"{error.message}\n\n") is not None

    def _side(self, side: str, ended: Compiled, errors: Sequence[Diagnostic], files: Sequence[Path]) -> Side:
        ours = dict.fromkeys(name for path in files if (name := own_headers.name_of(path)))
        given = self.kit.hip_headers
        used = given is not None and any(path.is_relative_to(given.resolve()) for path in files)
        base = Side(side=side, outcome="failed", own_headers=tuple(ours), given_headers=used)
        if ended.timed_out:
            return base.model_copy(update={"outcome": "timed_out"})
        if ended.output is None or errors:
            away = [name for error in errors if (name := diagnostics.missing_header(error))]
            if away and not self._is_of_the_port(errors[-1]) and diagnostics.missing_header(errors[-1]):
                return base.model_copy(update={"outcome": "lacks", "lacks": away[-1], "errors": tuple(errors[:-1])})
            return base.model_copy(update={"errors": tuple(errors) or (_speechless(ended.said),)})
        try:
            kernels = () if side == HOST else read_back(ended.output, side)
        except NotACodeObject as error:
            return base.model_copy(update={"errors": (_speechless(f"what came out is no code for {side}: {error}"),)})
        return base.model_copy(update={"outcome": "compiled", "kernels": kernels})


def read_back(file: Path, gfx: str) -> tuple[KernelFacts, ...]:
    """Every kernel of a code object, which must be for the target."""
    code = read_code_object(file.read_bytes())
    if code.gfx != gfx:
        raise NotACodeObject(f"it is for {code.gfx}")
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
    return Diagnostic(path="", line=0, column=0, message=last[-1] if last else "the compiler failed without a word")
