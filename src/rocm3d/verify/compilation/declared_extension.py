"""A native extension as its build script declares it, with every path relative to the repository."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath

DEVICE_SUFFIXES = frozenset({".cu", ".hip"})
HOST_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c++"})


@dataclass(frozen=True)
class DeclaredExtension:
    """`root`: the folder where the build starts. `uses_torch`: torch's BuildExtension adds its flags.

    `jit`: compiled at import time by `torch.utils.cpp_extension.load`, with other flags and another hipify folder.
    """

    name: str
    script: str
    line: int
    root: str
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    host_flags: tuple[str, ...] = ()
    device_flags: tuple[str, ...] = ()
    uses_torch: bool = True
    jit: bool = False

    @property
    def device_sources(self) -> tuple[str, ...]:
        """Sources with device code, by suffix."""
        return tuple(source for source in self.sources if PurePosixPath(source).suffix in DEVICE_SUFFIXES)

    def without(self, flags: set[str]) -> DeclaredExtension:
        """A copy without these flags and their values."""
        return replace(
            self, host_flags=_without(self.host_flags, flags), device_flags=_without(self.device_flags, flags)
        )


def _without(words: tuple[str, ...], flags: set[str]) -> tuple[str, ...]:
    remaining: list[str] = []
    skip = False
    for word, following in zip(words, (*words[1:], "-"), strict=False):
        if skip:
            skip = False
        elif word not in flags:
            remaining.append(word)
        else:
            skip = word.startswith("-X") or ("=" not in word and not following.startswith("-"))
    return tuple(remaining)
