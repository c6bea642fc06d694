from __future__ import annotations

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import RepositoryPaths, active_rules, load_detectors
from rocm3d.scan.rules import rules_by_unit
from rocm3d.scan.selection import Selection
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit


def test_unselected_rule_is_left_out(known):
    chosen = rules_by_unit(known, Selection(only=("spaced_launch",)))

    assert [entry.rule for entry, _ in chosen[CudaUnit]] == ["spaced_launch"]
    assert chosen[PythonUnit] == chosen[ParsedManifest] == chosen[RepositoryPaths] == []


def test_rules_by_unit_are_sorted_by_code(known):
    chosen = rules_by_unit(known, Selection())

    for kind, result in chosen.items():
        expected = [
            entry.code
            for rule in active_rules(known)
            for entry in load_detectors(rule)
            if issubclass(kind, entry.unit_types)
        ]
        assert [entry.code for entry, _ in result] == expected
        assert [context.code.code for _, context in result] == expected


def test_rules_are_cached_per_selection(known):
    first = rules_by_unit(known, Selection(skip=("CU",)))

    assert rules_by_unit(known, Selection(skip=("CU",))) is first
    assert rules_by_unit(known, Selection(skip=("CU",), own=("gsplat",)))[PythonUnit][0][1].own_packages == frozenset(
        {"gsplat"}
    )
    assert rules_by_unit(known, Selection()) != first
