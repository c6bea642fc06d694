"""Finds the flags that clang rejects by compiling an empty file, so that they do not hide errors in the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.classify import Codes, Problem
from rocm3d.verify.compilation.unit import hipified_flag

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.toolchain.compiler import Compiler
    from rocm3d.verify.compilation.declared import Declared

_ROUNDS = 8


@dataclass
class FlagCheck:
    """Caches results: extensions of one script share most flags."""

    compiler: Compiler
    folder: Path
    codes: Codes
    _known: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = field(default_factory=dict)

    def refused(self, extension: Declared) -> tuple[str, ...]:
        """Rejected flags as the script spells them, device flags first."""
        device = [word for word in extension.device_flags if not word.startswith("--offload-arch")]
        return (*self._ask("hip", tuple(device)), *self._ask("c++", extension.host_flags))

    def problem(self, flag: str, extension: Declared, tree: Path) -> Problem:
        """A rejected flag, with its position in the script."""
        message = f"clang does not accept {flag}"
        code = self.codes.find(f"unknown argument: '{flag}'\n\n")
        line, column = _place(flag, tree / extension.script) or (extension.line, 0)
        return Problem(extension.script, line, column, message, code.code if code else "", code.rule if code else "")

    def _ask(self, language: str, flags: tuple[str, ...]) -> tuple[str, ...]:
        if not flags:
            return ()
        if (language, flags) not in self._known:
            self._known[language, flags] = tuple(self._asked(language, flags))
        return self._known[language, flags]

    def _asked(self, language: str, flags: tuple[str, ...]) -> list[str]:
        empty, output = self.folder / "empty.hip", self.folder / "empty.o"
        empty.touch()
        compiles = self.compiler.compile_host if language == "hip" else self.compiler.compile_cpp
        bad: dict[str, None] = {}
        spelled = {hipified_flag(word) if language == "hip" else word: word for word in flags}
        for _ in range(_ROUNDS):
            left = [made for made, word in spelled.items() if word not in bad]
            said = compiles(empty, output, left, 60.0).messages
            found = [spelled[flag] for flag in diagnostics.unknown_flags(said) if flag in spelled]
            if not found:
                break
            bad |= dict.fromkeys(found)
        return list(bad)


def _place(flag: str, script: Path) -> tuple[int, int] | None:
    """Line and column of a flag in a script, or of its part before `=`; None if it is not found."""
    try:
        lines = script.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for text in (flag, flag.partition("=")[0]):
        for number, line in enumerate(lines, 1):
            if text in line and not line.lstrip().startswith("#"):
                return number, line.index(text) + 1
    return None
