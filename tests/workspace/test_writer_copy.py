"""Copying a repository: never over existing files and never into itself."""

from __future__ import annotations

import os

import pytest

from rocm3d.model.errors import UserError
from rocm3d.workspace.writer import copy_tree


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_bytes(b"a\r\n\xff")
    (root / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    return root


def test_folder_with_something_in_it_is_refused(source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "theirs").write_text("x")
    with pytest.raises(UserError, match="already exists and is not empty"):
        copy_tree(source, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["theirs"]


def test_into_an_existing_file_is_refused(source, tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(UserError, match="already exists"):
        copy_tree(source, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "x"


@pytest.mark.parametrize("below", ["out", "src/../out", "src/deep/out"])
def test_copy_inside_the_repository_is_refused(source, below):
    with pytest.raises(UserError, match="is inside the repository"):
        copy_tree(source, source / below)
    assert not (source / "out").exists()


def test_copy_inside_the_repository_through_a_link_is_refused(source, tmp_path):
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(UserError, match="is inside"):
        copy_tree(source, tmp_path / "link" / "out")
    assert not (source / "out").exists()


def test_copy_to_an_unwritable_folder_is_refused(source, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot copy to"):
        copy_tree(source, tmp_path / "file" / "out")


def test_unreadable_file_is_named(reachable, run_unprivileged):
    (reachable / "repo").mkdir()
    (reachable / "repo" / "closed.py").write_text("x")
    (reachable / "repo" / "closed.py").chmod(0)
    (reachable / "free").mkdir()
    (reachable / "free").chmod(0o777)
    output = run_unprivileged(
        "try:\n    writer.copy_tree(place / 'repo', place / 'free' / 'out')\n"
        "except UserError as error:\n    print(error.message)",
        reachable,
    )
    assert output.startswith(f"cannot copy {reachable}/repo/closed.py: ")
    assert "Permission denied" in output


def test_bytes_and_modes_are_the_same(source, tmp_path, snapshot):
    copy_tree(source, tmp_path / "deep" / "out")
    assert snapshot(tmp_path / "deep" / "out") == snapshot(source)
    assert len(snapshot(source)) == 2


def test_empty_folder_is_filled(source, tmp_path, snapshot):
    (tmp_path / "out").mkdir()
    copy_tree(source, tmp_path / "out")
    assert snapshot(tmp_path / "out") == snapshot(source)


def test_links_stay_links_and_lead_where_they_led(source, tmp_path):
    (source / "inside").symlink_to("src/a.py")
    (source / "nowhere").symlink_to("gone")
    (source / "out").symlink_to("/etc")
    copy_tree(source, tmp_path / "out")
    targets = {name: str((tmp_path / "out" / name).readlink()) for name in ("inside", "nowhere", "out")}
    assert targets == {"inside": "src/a.py", "nowhere": "gone", "out": "/etc"}


def test_state_folder_and_pipes_are_omitted(source, tmp_path):
    (source / ".rocm3d" / "undo").mkdir(parents=True)
    (source / ".rocm3d" / "plan.json").write_text("{}")
    os.mkfifo(source / "src" / "pipe")
    copy_tree(source, tmp_path / "out")
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*"))
    assert names == ["run.sh", "src", "src/a.py"]


def test_git_folder_comes_along(source, tmp_path):
    (source / ".git").mkdir()
    (source / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    copy_tree(source, tmp_path / "out")
    assert (tmp_path / "out" / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
