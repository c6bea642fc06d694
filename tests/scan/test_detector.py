from __future__ import annotations

import subprocess
from pathlib import Path

from rocm3d.scan import detectors as package
from rocm3d.scan.detector import detectors


def test_every_active_code_has_its_detector_and_no_other(known):
    active = {(code.code, code.rule) for code in known.codes.values() if code.status == "active"}

    assert {(item.code, item.rule) for item in detectors()} == active


def test_detectors_come_in_code_order():
    codes = [item.code for item in detectors()]

    assert codes == sorted(codes)
    assert len(set(codes)) == len(codes)


def test_no_detector_is_ignored_by_git():
    """A rule that .gitignore hides is missing from every clone and every wheel."""
    folder = Path(package.__file__).parent
    modules = sorted(str(path) for path in folder.rglob("*.py"))
    ignored = subprocess.run(
        ["git", "-C", str(folder), "check-ignore", *modules], capture_output=True, text=True, check=False
    )

    assert ignored.stdout.splitlines() == []
