"""Two sources with different object files under CUDA, but the same object file after hipify."""

from __future__ import annotations

from itertools import combinations
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, RepositoryPaths
from rocm3d.syntax.hipify_names import HipifyPrediction, hip_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES = frozenset({".cu", ".c", ".cc", ".cpp"})


def find(paths: RepositoryPaths, context: DetectorContext) -> Iterator[Match]:
    """Matches pairs with the same object name of which one is a .cu file.

    A file that hipify leaves unchanged keeps its name. A file that cannot be read makes the finding a warning.
    """
    if not any(path.endswith(".py") for path in paths.paths):
        return  # without Python files no torch build runs hipify
    existing = {path for path in paths.paths if PurePosixPath(path).suffix in _SOURCES}
    outputs = {path: hip_path(path, context.code.terms) for path in sorted(existing)}
    output_paths = set(outputs.values())
    objects: dict[str, list[str]] = {}
    for path, output in outputs.items():
        if path not in output_paths:
            objects.setdefault(_object_path(output), []).append(path)
    translation = HipifyPrediction(frozenset(paths.paths), paths.read, context.code.terms)
    for name, sources in objects.items():
        for first, second in combinations(sources, 2):
            if not (first.endswith(".cu") or second.endswith(".cu")) or _object_path(first) == _object_path(second):
                continue
            changed = [translation.renames(path) for path in (first, second) if not path.endswith(".cu")]
            if False not in changed:
                facts = {"first": first, "second": second, "object": name}
                yield Match(1, 1, facts, severity="warning" if None in changed else None, path=first)


def _object_path(path: str) -> str:
    return PurePosixPath(path).with_suffix(".o").as_posix()


detector = Detector(__name__, code="CU508", unit_types=RepositoryPaths, find=find)
