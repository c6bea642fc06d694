from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.pipeline.skill import check_skill, write_skill


def test_a_folder_of_somebody_else_is_refused(tmp_path, knowledge):
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(UserError, match="not a skill of rocm3d"):
        write_skill(tmp_path, knowledge, {})

    assert ["notes.txt"] == [path.name for path in tmp_path.iterdir()]


def test_writing_over_an_earlier_skill_returns_other_files(tmp_path, knowledge):
    path = tmp_path / "new"

    assert [] == write_skill(path, knowledge, {})
    (path / "notes.txt").write_text("mine")

    assert ["notes.txt"] == write_skill(path, knowledge, {})
    assert "mine" == (path / "notes.txt").read_text()


def test_a_folder_without_a_skill_cannot_be_checked(tmp_path):
    with pytest.raises(UserError, match=r"has no SKILL\.md"):
        check_skill(tmp_path, {})


def test_an_existing_skill_is_checked(tmp_path, knowledge):
    write_skill(tmp_path / "new", knowledge, {})
    (tmp_path / "new" / "references" / "attention.md").unlink()

    assert "SKILL.md: link to missing file references/attention.md" in check_skill(tmp_path / "new", {})
