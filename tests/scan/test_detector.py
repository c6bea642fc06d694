from __future__ import annotations

import subprocess
from pathlib import Path

from rocm3d.scan import detectors as package
from rocm3d.scan.detector import Detector, Look, detector_of, detectors, modules
from rocm3d.syntax.cuda import CudaUnit


def test_every_active_code_has_its_detector_and_no_other(known):
    active = {(code.code, code.rule) for code in known.codes.values() if code.status == "active"}

    assert {(item.code, item.rule) for item in detectors()} == active


def test_detectors_come_in_code_order():
    codes = [item.code for item in detectors()]

    assert codes == sorted(codes)
    assert len(set(codes)) == len(codes)


def test_no_detector_is_ignored_by_git():
    """A rule matched by .gitignore would be missing from every clone and wheel."""
    folder = Path(package.__file__).parent
    modules = sorted(str(path) for path in folder.rglob("*.py"))
    ignored = subprocess.run(
        ["git", "-C", str(folder), "check-ignore", *modules], capture_output=True, text=True, check=False
    )

    assert ignored.stdout.splitlines() == []


def test_the_module_of_every_rule_is_known_without_loading_it():
    assert {rule: detector_of(rule).module for rule in modules()} == modules()
    assert {item.rule for item in detectors()} == set(modules())


def test_needs_may_be_bytes_or_a_question(known):
    look = Look(known.codes["CU301"], known)
    unit = CudaUnit("a.cu", b"abc")

    for needs, answer in (
        ((), True),
        ((b"x", b"b"), True),
        ((b"x",), False),
        (lambda held, asked: held is unit and asked is look, True),
        (lambda held, asked: False, False),
    ):
        assert Detector("a.b", "CU301", CudaUnit, lambda held, asked: (), needs).may_find(unit, look) is answer
