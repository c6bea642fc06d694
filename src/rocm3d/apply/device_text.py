"""C++ that a port brings along for ROCm: the files of device/, each one function or type, guarded against twice."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "device"
# What a text calls comes before it.
_NEEDS = {"match_any": ("wave_peers",), "labeled_partition": ("wave_peers",)}


def helpers(names: Iterable[str]) -> str:
    """The texts by these names and what they need, each once in a translation unit, and only where HIP compiles."""
    wanted = dict.fromkeys(part for name in names for part in (*_NEEDS.get(name, ()), name))
    return "".join(_once(name) for name in wanted)


def _once(name: str) -> str:
    mark = f"ROCM3D_HAS_{name.upper()}"
    return f"#if defined(__HIP__) && !defined({mark})\n#define {mark}\n{text(name)}#endif\n"


@cache
def text(name: str) -> str:
    """One file of device/."""
    return (_FOLDER / f"{name}.h").read_text(encoding="utf-8")
