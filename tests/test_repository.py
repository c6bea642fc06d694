from __future__ import annotations

import pytest

from rocm3d.model.failure import UserError
from rocm3d.pipeline import Repository
from rocm3d.repository import Opened


def test_a_folder_that_is_not_there_is_refused(tmp_path, knowledge):
    with pytest.raises(UserError, match="does not exist"):
        Opened(tmp_path / "nowhere", knowledge)


def test_opened_and_with_every_stage_it_is_the_same_scan(example, knowledge):
    root = example("splat-trainer")

    assert Opened(root, knowledge).scan() == Repository(root, knowledge).scan()


def test_with_and_without_the_cache_it_is_the_same_scan(example, knowledge):
    root = example("splat-trainer")
    plain = Opened(root, knowledge).scan()

    first, second = (Opened(root, knowledge, cached=True).scan() for _ in range(2))

    assert first == second == plain


def test_after_a_change_only_the_change_differs(example, knowledge):
    root = example("splat-trainer")
    before = Opened(root, knowledge, cached=True).scan()
    (root / "added.py").write_text("import pynvml\n")

    after = Opened(root, knowledge, cached=True).scan()

    assert [f for f in after.findings if f not in before.findings] == [
        f for f in after.findings if f.path == "added.py"
    ]
    assert after == Opened(root, knowledge).scan()


def test_what_a_baseline_holds_is_not_returned_but_kept(example, knowledge):
    root = example("splat-trainer")
    opened = Opened(root, knowledge)
    before = opened.scan()

    again = opened.scan(before)

    assert (again.findings, again.known) == ((), len(before.findings))
    assert opened.documents.find(type(before)).findings == before.findings


def test_a_folder_of_that_name_that_is_not_ours_is_scanned(example, knowledge):
    root = example("splat-trainer")
    (root / "rocm-port").mkdir()
    (root / "rocm-port" / "a.cu").write_text("#include <device_launch_parameters.h>\n")

    assert "rocm-port/a.cu" in {finding.path for finding in Opened(root, knowledge).scan().findings}
