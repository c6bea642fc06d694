"""Files and folders as sources of a view."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.model.failure import UserError
from rocm3d.viewer.source import sources


def test_three_are_too_many(tmp_path):
    with pytest.raises(UserError, match="shows one, or two side by side"):
        sources([tmp_path] * 3)


def test_a_second_that_is_not_there_is_named(tmp_path, write_splat):
    with pytest.raises(UserError, match=r"b\.ply does not exist"):
        sources([write_splat(), tmp_path / "b.ply"])


def test_a_file_has_no_other_choices(write_splat):
    (source,) = sources([write_splat()])

    assert list(source.named) == ["ball.ply"]
    assert source.choices == (source.first,)


def test_a_folder_offers_what_it_holds_by_relative_names(tmp_path, write_splat, write_box):
    write_splat("run/out/a.ply")
    write_box("box.glb")

    (source,) = sources([tmp_path])

    assert list(source.named) == ["run/out/a.ply", "box.glb"]
    assert Path(source.first.path).name == "a.ply"


def test_of_two_folders_files_of_one_name_are_compared(tmp_path, write_splat):
    for name in ("cuda/b.ply", "rocm/a.ply", "rocm/b.ply"):
        write_splat(name)

    first, second = sources([tmp_path / "cuda", tmp_path / "rocm"])

    assert (Path(first.first.path).name, Path(second.first.path).name) == ("b.ply", "b.ply")
