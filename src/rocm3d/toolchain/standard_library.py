"""Include flags for C++ standard headers: the machine's if it has them, otherwise those in the wheel."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rocm3d.workspace.process import run

_HERE = Path("/")
TARGET = "x86_64-linux-gnu"
# libc++ needs the settings of its build, which this compiler passes as macros.
_SETTINGS = re.compile(r"^#define (_LIBCPP\w+|_LIBCXXABI\w+|__GLIBC_MINOR__) (.+)$", re.MULTILINE)


def flags(compiler: Path, resource: Path, machine_has_headers: bool | None = None) -> tuple[str, ...]:
    """Flags with which <vector> and <cmath> are found."""
    has = _machine_has(compiler, resource) if machine_has_headers is None else machine_has_headers
    return () if has else _of_wheel(compiler, resource)


def _machine_has(compiler: Path, resource: Path) -> bool:
    command = [str(compiler), "clang", f"--target={TARGET}", "-resource-dir", str(resource), "-x", "c++"]
    return run([*command, "-E", "-include", "vector", os.devnull, "-o", os.devnull]).code == 0


def _of_wheel(compiler: Path, resource: Path) -> tuple[str, ...]:
    listing = (
        _ask(compiler, "-E", "-v").partition("#include <...> search starts here:\n")[2].partition("End of search")[0]
    )
    folders = [(_HERE / line.strip()).resolve() for line in listing.splitlines() if line.strip()]
    # The compiler's builtin headers do not include HIP's: the resource folder replaces them at the same position.
    own = (compiler.parent / "lib" / "include").resolve()
    places = [resource / "include" if folder == own else folder for folder in folders]
    settings = [f"-D{name}={value}" for name, value in _SETTINGS.findall(_ask(compiler, "-E", "-dM"))]
    return ("-nostdinc++", "-nostdlibinc", *(word for place in places for word in ("-isystem", str(place))), *settings)


def _ask(compiler: Path, *words: str) -> str:
    # The compiler prints paths relative to its working directory.
    ended = run([str(compiler), "c++", "-target", TARGET, *words, "-x", "c++", os.devnull], cwd=_HERE)
    return (ended.stderr + ended.stdout).decode(errors="replace")
