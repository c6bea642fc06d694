from __future__ import annotations

import subprocess
from pathlib import Path

from rocm3d.scan import detectors as package
from rocm3d.scan.detector import Detector, DetectorContext, all_detectors, load_detector, rule_modules
from rocm3d.syntax.cuda import CudaUnit


def test_active_codes_and_detectors_match(known):
    active = {(code.code, code.rule) for code in known.codes.values() if code.status == "active"}

    assert {(entry.code, entry.rule) for entry in all_detectors()} == active


def test_detectors_are_sorted_by_code():
    codes = [entry.code for entry in all_detectors()]

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


def test_rule_modules_without_import():
    assert {rule: load_detector(rule).module for rule in rule_modules()} == rule_modules()
    assert {entry.rule for entry in all_detectors()} == set(rule_modules())


def test_prefilter_is_bytes_or_predicate(known):
    context = DetectorContext(known.codes["CU301"], known)
    unit = CudaUnit("a.cu", b"abc")

    for prefilter, expected in (
        ((), True),
        ((b"x", b"b"), True),
        ((b"x",), False),
        (lambda held, calls: held is unit and calls is context, True),
        (lambda held, calls: False, False),
    ):
        assert (
            Detector("a.b", "CU301", CudaUnit, lambda held, calls: (), prefilter).can_match(unit, context) is expected
        )
