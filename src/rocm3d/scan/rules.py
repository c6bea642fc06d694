"""The rules of one run: what looks at which kind of unit, each with its code. Made once, asked for every file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Manifest
from rocm3d.scan.detector import Detector, Look, Paths, Unit
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

Rules = dict[type[Unit], list[tuple[Detector, Look]]]

_made: dict[tuple[int, Selection], tuple[Knowledge, Rules]] = {}


def rules(knowledge: Knowledge, selection: Selection) -> Rules:
    """The detectors for each kind of unit, by code, with what they may consult."""
    key = (id(knowledge), selection)
    if key not in _made:
        _made.clear()  # every file of a scan asks for the same; the knowledge is kept so that its id stays its own
        _made[key] = knowledge, _sorted_out(knowledge, selection)
    return _made[key][1]


def _sorted_out(knowledge: Knowledge, selection: Selection) -> Rules:
    own = frozenset(selection.own)
    chosen = [(item, Look(knowledge.codes[item.code], knowledge, own)) for item in selection.detectors()]
    kinds: tuple[type[Unit], ...] = (CudaUnit, PythonUnit, Manifest, Paths)
    return {kind: [(item, look) for item, look in chosen if issubclass(kind, item.reads)] for kind in kinds}
