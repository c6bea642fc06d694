"""Operations and the digests of their kernel sources; standard library only, for `make check`."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "rocm3d_kernels"
PACKAGE_PREFIX = "rocm3d_kernels."
# Files with kernel code; files that only launch kernels do not change them.
KERNEL_FILES = ("triton.py", "image_formation.py")
COMPILE_SCRIPT = Path(__file__).with_name("compile.py")


def operations(package: Path = PACKAGE) -> list[str]:
    """Names of the folders with a triton.py."""
    return sorted(path.parent.name for path in package.glob("*/triton.py"))


def files(op: str, package: Path = PACKAGE) -> list[Path]:
    """Python files of an operation and its tuning table."""
    table = package / "tuning" / f"{op}.json"
    return [*sorted((package / op).rglob("*.py")), *([table] if table.is_file() else [])]


def kernel_files(op: str, package: Path = PACKAGE) -> list[Path]:
    """Everything that determines the compiled code: kernels, the kernels they import, gate.py, the tuning table."""
    sources: list[Path] = []
    pending = [package / op / "triton.py"]
    while pending:
        path = pending.pop()
        if path not in sources and path.is_file() and path.name in KERNEL_FILES:
            sources.append(path)
            pending += _imported_files(path, package)
    data_files = (package / op / "gate.py", package / "tuning" / f"{op}.json")
    return [*sorted(sources), *[path for path in data_files if path.is_file()]]


def _imported_files(path: Path, package: Path) -> list[Path]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [
        package / f"{name.partition('.')[2].replace('.', '/')}.py" for name in names if name.startswith(PACKAGE_PREFIX)
    ]


def digest(op: str, package: Path = PACKAGE) -> str:
    """SHA-256 of these files with their names, and of compile.py."""
    total = hashlib.sha256(COMPILE_SCRIPT.read_bytes())
    for path in kernel_files(op, package):
        total.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def digests(package: Path = PACKAGE) -> dict[str, str]:
    """The digest of every operation."""
    return {op: digest(op, package) for op in operations(package)}
