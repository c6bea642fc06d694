"""The rules of one scan, by type of unit. Built once and used for every file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, Look, Paths, Unit
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

Rules = dict[type[Unit], list[tuple[Detector, Look]]]

_made: dict[tuple[int, Selection], tuple[Knowledge, Rules]] = {}


def rules(knowledge: Knowledge, selection: Selection) -> Rules:
    """The selected detectors for each type of unit, sorted by code, each with its context."""
    key = (id(knowledge), selection)
    if key not in _made:
        _made.clear()  # one entry is enough; it holds the knowledge base so that its id is not reused
        _made[key] = knowledge, _sorted_out(knowledge, selection)
    return _made[key][1]


def _sorted_out(knowledge: Knowledge, selection: Selection) -> Rules:
    own = frozenset(selection.own)
    chosen = [(item, Look(knowledge.codes[item.code], knowledge, own)) for item in selection.detectors()]
    kinds: tuple[type[Unit], ...] = (CudaUnit, PythonUnit, ParsedManifest, Paths)
    return {kind: [(item, look) for item, look in chosen if issubclass(kind, item.reads)] for kind in kinds}
