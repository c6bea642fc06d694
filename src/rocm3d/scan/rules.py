"""The rules of one scan, by type of unit. Built once and used for every file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, RepositoryPaths, Unit, context_of
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

RulesByUnit = dict[type[Unit], list[tuple[Detector, DetectorContext]]]

_cached_rules: dict[tuple[int, Selection], tuple[Knowledge, RulesByUnit]] = {}


def rules_by_unit(knowledge: Knowledge, selection: Selection) -> RulesByUnit:
    """The selected detectors for each type of unit, sorted by code, each with its context."""
    key = (id(knowledge), selection)
    if key not in _cached_rules:
        _cached_rules.clear()  # one entry is enough; it holds the knowledge base so that its id is not reused
        _cached_rules[key] = knowledge, _group_by_unit(knowledge, selection)
    return _cached_rules[key][1]


def _group_by_unit(knowledge: Knowledge, selection: Selection) -> RulesByUnit:
    own_packages = frozenset(selection.own)
    detectors = selection.detectors(knowledge)
    selected = [(detector, context_of(detector, knowledge, own_packages)) for detector in detectors]
    kinds: tuple[type[Unit], ...] = (CudaUnit, PythonUnit, ParsedManifest, RepositoryPaths)
    return {
        kind: [(detector, context) for detector, context in selected if issubclass(kind, detector.unit_types)]
        for kind in kinds
    }
