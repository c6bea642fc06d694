"""File names that torch's hipify writes for an extension, after get_hip_file_path of hipify_python.py.

A source file keeps its name if hipify changes neither its content nor its folder name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import normpath

# Names that hipify translates: every entry of its tables starts with one of these. Device code gets an include.
_TRANSLATED = re.compile(
    rb"\b(?:cuda[A-Z]\w*|cu(?:rand|blas|sparse|solver|fft)[A-Z_]\w*|cub::|CU(?:DA_VERSION|DA_ERROR_\w+|DA_SUCCESS"
    rb"|device|context|stream|module|function|result)\b|__CUDACC__|USE_CUDA\b|__nv_bfloat16|__global__|__shared__|__syncthreads)"
    rb"|<<<|#\s*include\s*[<\"](?:cuda[\w]*\.h|cub/|cu(?:rand|blas|sparse|solver|fft)\w*\.h|ATen/(?:native/)?cuda/"
    rb"|c10/cuda/|THC|cooperative_groups\.h|device_functions\.h|nvToolsExt\.h)"
)
_QUOTED_INCLUDE = re.compile(rb'#\s*include\s*"([^"\n]+)"')
_TRANSLATED_SUFFIXES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".in"})


def is_read_by_hipify(path: str) -> bool:
    return PurePosixPath(path).suffix in _TRANSLATED_SUFFIXES


def hip_path(path: str, replacements: Mapping[str, str]) -> str:
    """The output path of a translated source; `replacements` apply to folder and file names. It always differs."""
    old = PurePosixPath(path)
    folder, stem = _renamed(old.parent.as_posix(), replacements), _renamed(old.stem, replacements)
    suffix = ".hip" if old.suffix == ".cu" else old.suffix
    if folder == old.parent.as_posix() and stem + suffix == old.name:
        stem += "_hip"
    return (PurePosixPath(folder) / (stem + suffix)).as_posix()


@dataclass
class HipifyPrediction:
    """Predicts which files of a project hipify translates."""

    paths: Collection[str]
    read: Callable[[str], bytes | None]
    replacements: Mapping[str, str]
    _renamed_by_path: dict[str, bool | None] = field(default_factory=dict)

    def renames(self, path: str) -> bool | None:
        """Whether a file is renamed because of its own content or that of an included header; None if unreadable."""
        if path not in self._renamed_by_path:
            self._renamed_by_path[path] = False  # stops the recursion of headers that include each other
            self._renamed_by_path[path] = self._renames(path)
        return self._renamed_by_path[path]

    def _renames(self, path: str) -> bool | None:
        folder = PurePosixPath(path).parent.as_posix()
        if not is_read_by_hipify(path):
            return False
        if _renamed(folder, self.replacements) != folder:
            return True
        data = self.read(path)
        if data is None:
            return None
        if _TRANSLATED.search(data):
            return True
        headers = (normpath(f"{folder}/{name.decode('utf-8', 'replace')}") for name in _QUOTED_INCLUDE.findall(data))
        return any(self.renames(header) for header in headers if header in self.paths)


def _renamed(name: str, replacements: Mapping[str, str]) -> str:
    for original, replacement in replacements.items():
        name = name.replace(original, replacement)
    return name
