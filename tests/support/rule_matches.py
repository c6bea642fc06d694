"""Runs the detectors of one rule over one parsed file."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.rule import Rule
from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match, Unit, load_detectors


def detectors_with_context(rule: Rule, knowledge: Knowledge) -> list[tuple[Detector, DetectorContext]]:
    """Also for a rule that the knowledge base does not have."""
    return [(item, DetectorContext(rule, knowledge, item.parameters)) for item in load_detectors(rule)]


def rule_matches(rule: Rule, unit: Unit, knowledge: Knowledge) -> Iterator[Match | Clue]:
    """What the rule finds in the file, whatever its prefilter says."""
    for detector, context in detectors_with_context(rule, knowledge):
        if isinstance(unit, detector.unit_types):
            yield from detector.find(unit, context)


def check_prefilters(monkeypatch) -> None:
    """From now on a scan fails if the prefilter of a rule rejects a file with a match."""
    original_can_match = Detector.can_match

    def checked(self, unit, context):
        can_match = original_can_match(self, unit, context)
        assert can_match or not list(self.find(unit, context)), f"{self.rule} has a match that its prefilter rejects"
        return can_match

    monkeypatch.setattr(Detector, "can_match", checked)
