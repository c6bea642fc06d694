"""Snapshots see bytes, modes, links and folders."""

from __future__ import annotations

import pytest
from attacks.snapshots import difference, snapshot

CHANGES = {
    "another mode": lambda root: (root / "a").chmod(0o755),
    "other bytes": lambda root: (root / "a").write_text("other"),
    "is missing": lambda root: (root / "a").unlink(),
    "is new": lambda root: (root / "b").mkdir(),
    "'link' has other bytes": lambda root: ((root / "link").unlink(), (root / "link").symlink_to("b")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_is_reported(tmp_path, change):
    (tmp_path / "a").write_text("text")
    (tmp_path / "link").symlink_to("a")
    before = snapshot(tmp_path)
    assert not difference(before, snapshot(tmp_path))

    CHANGES[change](tmp_path)

    assert change.split("' has ")[-1] in difference(before, snapshot(tmp_path))


def test_own_state_and_the_index_of_git_do_not_count(tmp_path):
    (tmp_path / ".rocm3d").mkdir()
    (tmp_path / ".git").mkdir()
    before = snapshot(tmp_path)
    (tmp_path / ".rocm3d" / "plan.json").write_text("{}")
    (tmp_path / ".git" / "index").write_text("a")

    assert not difference(before, snapshot(tmp_path))
