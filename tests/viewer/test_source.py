"""Files and folders as sources of a view."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.model.errors import UserError
from rocm3d.viewer.source import open_sources


def test_three_are_too_many(tmp_path):
    with pytest.raises(UserError, match="shows one, or two side by side"):
        open_sources([tmp_path] * 3)


def test_a_second_that_does_not_exist_is_named(tmp_path, write_splat):
    with pytest.raises(UserError, match=r"b\.ply does not exist"):
        open_sources([write_splat(), tmp_path / "b.ply"])


def test_a_file_has_no_other_choices(write_splat):
    (source,) = open_sources([write_splat()])

    assert list(source.choices_by_name) == ["ball.ply"]
    assert source.choices == (source.first,)


def test_a_folder_offers_what_it_holds_by_relative_names(tmp_path, write_splat, write_box):
    write_splat("run/out/a.ply")
    write_box("box.glb")

    (source,) = open_sources([tmp_path])

    assert list(source.choices_by_name) == ["run/out/a.ply", "box.glb"]
    assert Path(source.first.path).name == "a.ply"


def test_of_two_folders_files_of_one_name_are_compared(tmp_path, write_splat):
    for name in ("cuda/b.ply", "rocm/a.ply", "rocm/b.ply"):
        write_splat(name)

    first, second = open_sources([tmp_path / "cuda", tmp_path / "rocm"])

    assert (Path(first.first.path).name, Path(second.first.path).name) == ("b.ply", "b.ply")
