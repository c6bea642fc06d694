"""Output of hipify that is kept beside its source: it grows old, and source globs collect both."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, Paths
from rocm3d.syntax.hipify_names import hip_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".hip"})


def find(paths: Paths, look: Look) -> Iterator[Hit]:
    """One hit a folder, at its first file that hipify makes from another file of the repository."""
    there, words = set(paths.paths), look.knowledge.codes["CU508"].terms
    made: dict[str, list[str]] = {}
    for path in paths.paths:
        output = hip_path(path, words) if PurePosixPath(path).suffix in _SOURCES else path
        if output != path and output in there and _bears_the_mark(output):
            made.setdefault(PurePosixPath(output).parent.as_posix(), []).append(output)
    for outputs in made.values():
        first, *others = sorted(set(outputs))
        more = f" (and {len(others)} more of this folder)" if others else ""
        yield Hit(1, 1, {"path": first + more}, path=first)


def _bears_the_mark(path: str) -> bool:
    """A file of the same name in a folder called hip may be somebody's own work."""
    name = PurePosixPath(path)
    return name.suffix == ".hip" or name.stem.endswith("_hip")


detector = Detector(__name__, code="CU507", reads=Paths, find=find)
