"""Include flags for C++ standard headers: the machine's if it has them, otherwise those in the wheel."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rocm3d.workspace.process import run

_WORKING_DIRECTORY = Path("/")
TARGET = "x86_64-linux-gnu"
# libc++ needs the settings of its build, which this compiler passes as macros.
_SETTINGS = re.compile(r"^#define (_LIBCPP\w+|_LIBCXXABI\w+|__GLIBC_MINOR__) (.+)$", re.MULTILINE)


def flags(compiler: Path, resource: Path, machine_has_headers: bool | None = None) -> tuple[str, ...]:
    """Flags with which <vector> and <cmath> are found."""
    found_headers = _machine_has_headers(compiler, resource) if machine_has_headers is None else machine_has_headers
    return () if found_headers else _wheel_flags(compiler, resource)


def _machine_has_headers(compiler: Path, resource: Path) -> bool:
    command = [str(compiler), "clang", f"--target={TARGET}", "-resource-dir", str(resource), "-x", "c++"]
    return run([*command, "-E", "-include", "vector", os.devnull, "-o", os.devnull]).code == 0


def _wheel_flags(compiler: Path, resource: Path) -> tuple[str, ...]:
    listing = (
        _compiler_output(compiler, "-E", "-v")
        .partition("#include <...> search starts here:\n")[2]
        .partition("End of search")[0]
    )
    folders = [(_WORKING_DIRECTORY / line.strip()).resolve() for line in listing.splitlines() if line.strip()]
    # The compiler's builtin headers do not include HIP's: the resource folder replaces them at the same position.
    builtin_headers = (compiler.parent / "lib" / "include").resolve()
    include_folders = [resource / "include" if folder == builtin_headers else folder for folder in folders]
    settings = [f"-D{name}={value}" for name, value in _SETTINGS.findall(_compiler_output(compiler, "-E", "-dM"))]
    return (
        "-nostdinc++",
        "-nostdlibinc",
        *(word for include_folder in include_folders for word in ("-isystem", str(include_folder))),
        *settings,
    )


def _compiler_output(compiler: Path, *options: str) -> str:
    # The compiler prints paths relative to its working directory.
    finished = run([str(compiler), "c++", "-target", TARGET, *options, "-x", "c++", os.devnull], cwd=_WORKING_DIRECTORY)
    return (finished.stderr + finished.stdout).decode(errors="replace")
