from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.pipeline import Repository
from rocm3d.repository import ScanRepository


def test_missing_folder_is_refused(tmp_path, knowledge):
    with pytest.raises(UserError, match="does not exist"):
        ScanRepository(tmp_path / "nowhere", knowledge)


def test_scan_is_the_same_with_all_stages(example, knowledge):
    root = example("splat-trainer")

    assert ScanRepository(root, knowledge).scan() == Repository(root, knowledge).scan()


def test_scan_is_the_same_with_and_without_cache(example, knowledge):
    root = example("splat-trainer")
    plain = ScanRepository(root, knowledge).scan()

    first, second = (ScanRepository(root, knowledge, cached=True).scan() for _ in range(2))

    assert first == second == plain


def test_after_a_change_only_the_change_differs(example, knowledge):
    root = example("splat-trainer")
    before = ScanRepository(root, knowledge, cached=True).scan()
    (root / "added.py").write_text("import pynvml\n")

    after = ScanRepository(root, knowledge, cached=True).scan()

    assert [f for f in after.findings if f not in before.findings] == [
        f for f in after.findings if f.path == "added.py"
    ]
    assert after == ScanRepository(root, knowledge).scan()


def test_findings_of_the_baseline_are_stored_but_not_returned(example, knowledge):
    root = example("splat-trainer")
    opened = ScanRepository(root, knowledge)
    before = opened.scan()

    again = opened.scan(before)

    assert (again.findings, again.known) == ((), len(before.findings))
    assert opened.documents.find(type(before)).findings == before.findings


def test_a_folder_of_that_name_that_is_not_ours_is_scanned(example, knowledge):
    root = example("splat-trainer")
    (root / "rocm-port").mkdir()
    (root / "rocm-port" / "a.cu").write_text("#include <device_launch_parameters.h>\n")

    assert "rocm-port/a.cu" in {finding.path for finding in ScanRepository(root, knowledge).scan().findings}
