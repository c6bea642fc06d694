"""C++ helpers for ROCm: the files of device/, one function or type each, with an include guard."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "device"
# Helpers that must be defined before the helper that calls them.
_NEEDS = {"match_any": ("wave_peers",), "labeled_partition": ("wave_peers",)}


def helpers(names: Iterable[str]) -> str:
    """The named helpers and their dependencies. Each is compiled by HIP only, and once per translation unit."""
    wanted = dict.fromkeys(part for name in names for part in (*_NEEDS.get(name, ()), name))
    return "".join(_once(name) for name in wanted)


def _once(name: str) -> str:
    mark = f"ROCM3D_HAS_{name.upper()}"
    return f"#if defined(__HIP__) && !defined({mark})\n#define {mark}\n{text(name)}#endif\n"


@cache
def text(name: str) -> str:
    return (_FOLDER / f"{name}.h").read_text(encoding="utf-8")
