"""C++ helpers for ROCm: the files of device/, one function or type each, with an include guard."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "device"
# Helpers that must be defined before the helper that calls them.
_DEPENDENCIES = {"match_any": ("wave_peers",), "labeled_partition": ("wave_peers",)}


def helper_sources(names: Iterable[str]) -> str:
    """The named helpers and their dependencies. Each is compiled by HIP only, and once per translation unit."""
    ordered = dict.fromkeys(part for name in names for part in (*_DEPENDENCIES.get(name, ()), name))
    return "".join(_with_include_guard(name) for name in ordered)


def _with_include_guard(name: str) -> str:
    macro = f"ROCM3D_HAS_{name.upper()}"
    return f"#if defined(__HIP__) && !defined({macro})\n#define {macro}\n{read_helper(name)}#endif\n"


@cache
def read_helper(name: str) -> str:
    return (_FOLDER / f"{name}.h").read_text(encoding="utf-8")
