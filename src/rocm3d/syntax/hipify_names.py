"""How torch's hipify names what it writes for an extension: read in get_hip_file_path of hipify_python.py.

A source that it does not change, in a folder whose name it does not change, keeps its own name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import normpath

# Names of CUDA's interfaces; each of its tables of names begins with one of these. Device code gets an include.
_TRANSLATED = re.compile(
    rb"\b(?:cuda[A-Z]\w*|cu(?:rand|blas|sparse|solver|fft)[A-Z_]\w*|cub::|CU(?:DA_VERSION|DA_ERROR_\w+|DA_SUCCESS"
    rb"|device|context|stream|module|function|result)\b|__CUDACC__|USE_CUDA\b|__nv_bfloat16|__global__|__shared__|__syncthreads)"
    rb"|<<<|#\s*include\s*[<\"](?:cuda[\w]*\.h|cub/|cu(?:rand|blas|sparse|solver|fft)\w*\.h|ATen/(?:native/)?cuda/"
    rb"|c10/cuda/|THC|cooperative_groups\.h|device_functions\.h|nvToolsExt\.h)"
)
_QUOTED = re.compile(rb'#\s*include\s*"([^"\n]+)"')
_READ = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".in"})


def hip_path(path: str, words: Mapping[str, str]) -> str:
    """Where the translation of a source goes; `words` are replaced in folders and names, and no name stays as it is."""
    old = PurePosixPath(path)
    folder, stem = _renamed(old.parent.as_posix(), words), _renamed(old.stem, words)
    suffix = ".hip" if old.suffix == ".cu" else old.suffix
    if folder == old.parent.as_posix() and stem + suffix == old.name:
        stem += "_hip"
    return (PurePosixPath(folder) / (stem + suffix)).as_posix()


@dataclass
class Translation:
    """What hipify does to the files of a project, as far as their bytes tell."""

    paths: Collection[str]
    read: Callable[[str], bytes | None]
    words: Mapping[str, str]
    _known: dict[str, bool | None] = field(default_factory=dict)

    def changes(self, path: str) -> bool | None:
        """Whether a file gets a new name, by its own text or that of a header beside it; None if it cannot be read."""
        if path not in self._known:
            self._known[path] = False  # headers that include each other end here
            self._known[path] = self._changes(path)
        return self._known[path]

    def _changes(self, path: str) -> bool | None:
        folder = PurePosixPath(path).parent.as_posix()
        if PurePosixPath(path).suffix not in _READ:
            return False
        if _renamed(folder, self.words) != folder:
            return True
        data = self.read(path)
        if data is None:
            return None
        if _TRANSLATED.search(data):
            return True
        named = (normpath(f"{folder}/{name.decode('utf-8', 'replace')}") for name in _QUOTED.findall(data))
        return any(self.changes(header) for header in named if header in self.paths)


def _renamed(name: str, words: Mapping[str, str]) -> str:
    for word, other in words.items():
        name = name.replace(word, other)
    return name
