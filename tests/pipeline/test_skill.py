from __future__ import annotations

import pytest

from rocm3d.model.failure import UserError
from rocm3d.pipeline.skill import write_skill


def test_a_folder_of_somebody_else_is_refused(tmp_path, knowledge):
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(UserError, match="not a skill of rocm3d"):
        write_skill(tmp_path, knowledge, {})

    assert ["notes.txt"] == [path.name for path in tmp_path.iterdir()]


def test_over_an_earlier_skill_it_names_what_is_not_of_this_one(tmp_path, knowledge):
    place = tmp_path / "new"

    assert [] == write_skill(place, knowledge, {})
    (place / "notes.txt").write_text("mine")

    assert ["notes.txt"] == write_skill(place, knowledge, {})
    assert "mine" == (place / "notes.txt").read_text()
