"""Output of hipify that is checked in: it becomes outdated, and source globs collect it with the originals.

Recognised by the first line that torch's hipify writes, or by the name that it gives to another file's output.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, RepositoryPaths
from rocm3d.syntax.hipify_names import hip_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".hip"})
_NAMED_FOR_HIP = re.compile(r"(?i)(?:^|[/_.-])hip|\.hip$")


def find(paths: RepositoryPaths, context: DetectorContext) -> Iterator[Match]:
    """Yields one match per folder, at its first generated file."""
    existing, path_terms = set(paths.paths), context.knowledge.codes["CU508"].terms
    sources = [path for path in paths.paths if PurePosixPath(path).suffix in _SOURCES]
    outputs = {
        output for path in sources if (output := hip_path(path, path_terms)) in existing and _has_hipify_name(output)
    }
    outputs |= {
        path for path in sources if _NAMED_FOR_HIP.search(path) and _has_hipify_header(paths.read(path), context)
    }
    folders: dict[str, list[str]] = {}
    for path in sorted(outputs):
        folders.setdefault(PurePosixPath(path).parent.as_posix(), []).append(path)
    for first, *others in folders.values():
        more = f" (and {len(others)} more in this folder)" if others else ""
        yield Match(1, 1, {"path": first + more}, path=first)


def _has_hipify_name(path: str) -> bool:
    """Whether the file name itself comes from hipify. A file in a hip/ folder with another name may be hand-written."""
    name = PurePosixPath(path)
    return name.suffix == ".hip" or name.stem.endswith("_hip")


def _has_hipify_header(data: bytes | None, context: DetectorContext) -> bool:
    """Whether the first line contains hipify's marker, which starts with `!!!` among the code's terms."""
    first = b"" if data is None else data.split(b"\n", 1)[0]
    return any(term.encode() in first for term in context.code.terms if term.startswith("!!!"))


detector = Detector(__name__, code="CU507", unit_types=RepositoryPaths, find=find)
