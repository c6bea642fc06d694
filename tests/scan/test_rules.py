from __future__ import annotations

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Paths, detectors
from rocm3d.scan.rules import rules
from rocm3d.scan.selection import Selection
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit


def test_a_rule_that_was_not_asked_for_does_not_look(known):
    chosen = rules(known, Selection(only=("spaced_launch",)))

    assert [item.rule for item, _ in chosen[CudaUnit]] == ["spaced_launch"]
    assert chosen[PythonUnit] == chosen[ParsedManifest] == chosen[Paths] == []


def test_every_rule_looks_at_what_it_reads_in_the_order_of_codes(known):
    chosen = rules(known, Selection())

    for kind, found in chosen.items():
        wanted = [item.code for item in detectors() if issubclass(kind, item.reads)]
        assert [item.code for item, _ in found] == wanted
        assert [look.code.code for _, look in found] == wanted


def test_the_same_question_gets_the_same_answer_and_another_one_its_own(known):
    first = rules(known, Selection(skip=("CU",)))

    assert rules(known, Selection(skip=("CU",))) is first
    assert rules(known, Selection(skip=("CU",), own=("gsplat",)))[PythonUnit][0][1].own == frozenset({"gsplat"})
    assert rules(known, Selection()) != first
