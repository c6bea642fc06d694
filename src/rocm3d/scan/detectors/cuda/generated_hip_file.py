"""Output of hipify that is kept in the repository: it grows old, and source globs collect both.

Known by the first line that torch's hipify writes, or by a name that it makes from another file of the repository.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, Paths
from rocm3d.syntax.hipify_names import hip_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".hip"})
_NAMED_FOR_HIP = re.compile(r"(?i)(?:^|[/_.-])hip|\.hip$")


def find(paths: Paths, look: Look) -> Iterator[Hit]:
    """One hit a folder, at its first such file."""
    there, words = set(paths.paths), look.knowledge.codes["CU508"].terms
    sources = [path for path in paths.paths if PurePosixPath(path).suffix in _SOURCES]
    made = {output for path in sources if (output := hip_path(path, words)) in there and _bears_the_mark(output)}
    made |= {path for path in sources if _NAMED_FOR_HIP.search(path) and _says_so(paths.read(path), look)}
    folders: dict[str, list[str]] = {}
    for path in sorted(made):
        folders.setdefault(PurePosixPath(path).parent.as_posix(), []).append(path)
    for first, *others in folders.values():
        more = f" (and {len(others)} more of this folder)" if others else ""
        yield Hit(1, 1, {"path": first + more}, path=first)


def _bears_the_mark(path: str) -> bool:
    """A file of the same name in a folder called hip may be somebody's own work."""
    name = PurePosixPath(path)
    return name.suffix == ".hip" or name.stem.endswith("_hip")


def _says_so(data: bytes | None, look: Look) -> bool:
    """Whether the first line is the one among the code's terms that hipify writes."""
    first = b"" if data is None else data.split(b"\n", 1)[0]
    return any(term.encode() in first for term in look.code.terms if term.startswith("!!!"))


detector = Detector(__name__, code="CU507", reads=Paths, find=find)
