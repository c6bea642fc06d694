"""Finds the flags that clang rejects by compiling an empty file, so that they do not hide errors in the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.classify import CompileProblem, ErrorCodes
from rocm3d.verify.compilation.translation_unit import hipify_flag

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.toolchain.compiler import Compiler
    from rocm3d.verify.compilation.declared_extension import DeclaredExtension

_MAX_ROUNDS = 8


@dataclass
class FlagCheck:
    """Caches results: extensions of one script share most flags."""

    compiler: Compiler
    folder: Path
    codes: ErrorCodes
    _cache: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = field(default_factory=dict)

    def rejected_flags(self, extension: DeclaredExtension) -> tuple[str, ...]:
        """Rejected flags as the script spells them, device flags first."""
        device = [word for word in extension.device_flags if not word.startswith("--offload-arch")]
        return (*self._cached_rejected("hip", tuple(device)), *self._cached_rejected("c++", extension.host_flags))

    def problem(self, flag: str, extension: DeclaredExtension, tree: Path) -> CompileProblem:
        """A rejected flag, with its position in the script."""
        message = f"clang does not accept {flag}"
        code = self.codes.find(f"unknown argument: '{flag}'\n\n")
        line, column = _flag_position(flag, tree / extension.script) or (extension.line, 0)
        return CompileProblem(
            extension.script, line, column, message, code.code if code else "", code.rule if code else ""
        )

    def _cached_rejected(self, language: str, flags: tuple[str, ...]) -> tuple[str, ...]:
        if not flags:
            return ()
        if (language, flags) not in self._cache:
            self._cache[language, flags] = tuple(self._find_rejected(language, flags))
        return self._cache[language, flags]

    def _find_rejected(self, language: str, flags: tuple[str, ...]) -> list[str]:
        empty, output = self.folder / "empty.hip", self.folder / "empty.o"
        empty.touch()
        compile_source = self.compiler.compile_host if language == "hip" else self.compiler.compile_cpp
        rejected: dict[str, None] = {}
        original_spelling = {hipify_flag(word) if language == "hip" else word: word for word in flags}
        for _ in range(_MAX_ROUNDS):
            remaining = [passed for passed, word in original_spelling.items() if word not in rejected]
            messages = compile_source(empty, output, remaining, 60.0).messages
            newly_rejected = [
                original_spelling[flag] for flag in diagnostics.unknown_flags(messages) if flag in original_spelling
            ]
            if not newly_rejected:
                break
            rejected |= dict.fromkeys(newly_rejected)
        return list(rejected)


def _flag_position(flag: str, script: Path) -> tuple[int, int] | None:
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
