"""Two sources whose names differ for CUDA and whose object files are one after hipify."""

from __future__ import annotations

from itertools import combinations
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, Paths
from rocm3d.syntax.hipify_names import hip_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES = frozenset({".cu", ".c", ".cc", ".cpp"})


def find(paths: Paths, look: Look) -> Iterator[Hit]:
    """Pairs with one object name, one of them a .cu. A warning, as hipify renames a .cpp only where it changes it."""
    if not any(path.endswith(".py") for path in paths.paths):
        return  # nothing here builds with torch, so nothing is hipified
    there = {path for path in paths.paths if PurePosixPath(path).suffix in _SOURCES}
    outputs = {path: hip_path(path, look.code.terms) for path in sorted(there)}
    made = set(outputs.values())
    objects: dict[str, list[str]] = {}
    for path, output in outputs.items():
        if path not in made:
            objects.setdefault(_object(output), []).append(path)
    for name, sources in objects.items():
        for first, second in combinations(sources, 2):
            if (first.endswith(".cu") or second.endswith(".cu")) and _object(first) != _object(second):
                yield Hit(1, 1, {"first": first, "second": second, "object": name}, severity="warning", path=first)


def _object(path: str) -> str:
    return PurePosixPath(path).with_suffix(".o").as_posix()


detector = Detector(__name__, code="CU508", reads=Paths, find=find)
