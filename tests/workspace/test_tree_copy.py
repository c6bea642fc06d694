"""Copying a repository: never over existing files and never into itself."""

from __future__ import annotations

import contextlib
import os

import pytest

from rocm3d.model.errors import UserError
from rocm3d.workspace.tree_copy import copied_tree


def copy(source, into, **options):
    with copied_tree(source, into, **options):
        pass


def listed(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


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
        copy(source, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["theirs"]


def test_into_an_existing_file_is_refused(source, tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(UserError, match="already exists"):
        copy(source, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "x"


@pytest.mark.parametrize("below", ["out", "src/../out", "src/deep/out"])
def test_copy_inside_the_repository_is_refused(source, below):
    with pytest.raises(UserError, match="is inside the repository"):
        copy(source, source / below)
    assert not (source / "out").exists()


def test_copy_inside_the_repository_through_a_link_is_refused(source, tmp_path):
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(UserError, match="is inside"):
        copy(source, tmp_path / "link" / "out")
    assert not (source / "out").exists()


def test_copy_to_an_unwritable_folder_is_refused(source, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot copy to"):
        copy(source, tmp_path / "file" / "out")


def test_unreadable_file_is_named(reachable, run_unprivileged):
    (reachable / "repo").mkdir()
    (reachable / "repo" / "closed.py").write_text("x")
    (reachable / "repo" / "closed.py").chmod(0)
    (reachable / "free").mkdir()
    (reachable / "free").chmod(0o777)
    output = run_unprivileged(
        "from rocm3d.workspace.tree_copy import copied_tree\n"
        "try:\n    copied_tree(place / 'repo', place / 'free' / 'deep' / 'out').__enter__()\n"
        "except UserError as error:\n    print(error.message, list((place / 'free').iterdir()))",
        reachable,
    )
    assert output.startswith(f"cannot copy {reachable}/repo/closed.py: ")
    assert "Permission denied" in output
    assert output.endswith(" []\n")  # nothing is left of the copy


def test_bytes_and_modes_are_the_same(source, tmp_path, snapshot):
    copy(source, tmp_path / "deep" / "out")
    assert snapshot(tmp_path / "deep" / "out") == snapshot(source)
    assert len(snapshot(source)) == 2


def test_empty_folder_is_filled(source, tmp_path, snapshot):
    (tmp_path / "out").mkdir()
    copy(source, tmp_path / "out")
    assert snapshot(tmp_path / "out") == snapshot(source)


def test_links_stay_links_and_lead_where_they_led(source, tmp_path):
    (source / "inside").symlink_to("src/a.py")
    (source / "nowhere").symlink_to("gone")
    (source / "out").symlink_to("/etc")
    copy(source, tmp_path / "out")
    targets = {name: str((tmp_path / "out" / name).readlink()) for name in ("inside", "nowhere", "out")}
    assert targets == {"inside": "src/a.py", "nowhere": "gone", "out": "/etc"}


def test_state_folder_and_pipes_are_omitted(source, tmp_path):
    (source / ".rocm3d" / "undo").mkdir(parents=True)
    (source / ".rocm3d" / "plan.json").write_text("{}")
    os.mkfifo(source / "src" / "pipe")
    copy(source, tmp_path / "out")
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*"))
    assert names == ["run.sh", "src", "src/a.py"]


def test_git_comes_along_only_on_request(source, tmp_path):
    for folder in (".git", "libs/knn/.git"):
        (source / folder).mkdir(parents=True)
        (source / folder / "HEAD").write_text("ref: refs/heads/main\n")

    copy(source, tmp_path / "out")
    copy(source, tmp_path / "with", with_git=True)

    assert not [name for name in listed(tmp_path / "out") if ".git" in name]
    assert (tmp_path / "with" / "libs/knn/.git/HEAD").read_text() == "ref: refs/heads/main\n"


@pytest.mark.parametrize("make", ["file", "link", "missing"])
def test_git_of_another_checkout_does_not_come_along(source, tmp_path, make):
    """Two checkouts with the same data would change each other."""
    (tmp_path / "data").mkdir()
    if make == "file":
        (source / ".git").write_text(f"gitdir: {tmp_path / 'data'}\n")
    elif make == "link":
        (source / ".git").symlink_to("gone")

    with pytest.raises(UserError, match=r"--with-git: .*(is a link|does not exist)"):
        copy(source, tmp_path / "out", with_git=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("target", "comes_along"),
    [("../.git/modules/knn", True), ("../../elsewhere", False), ("/absolute", False), ("../.git/../../x", False)],
)
def test_git_of_a_submodule_comes_along_if_its_data_does(source, tmp_path, target, comes_along):
    (source / ".git" / "modules" / "knn").mkdir(parents=True)
    (source / "knn").mkdir()
    (source / "knn" / ".git").write_text(f"gitdir: {target}\n")

    copy(source, tmp_path / "out", with_git=True)

    assert (tmp_path / "out" / "knn" / ".git").exists() == comes_along


@pytest.mark.parametrize("into", ["out", "deep/er/out", "empty"])
def test_nothing_is_left_of_a_copy_that_is_not_ported(source, tmp_path, into):
    (tmp_path / "empty").mkdir()
    (source / "closed").mkdir()
    (source / "closed" / "a.py").write_text("")
    (source / "closed").chmod(0o500)
    before = listed(tmp_path)

    with contextlib.suppress(KeyboardInterrupt), copied_tree(source, tmp_path / into):
        complete = listed(tmp_path / into)
        raise KeyboardInterrupt

    assert complete == listed(source)
    assert before == listed(tmp_path)


def test_an_interrupted_copy_is_removed(source, tmp_path):
    def interrupt(path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(source, tmp_path / "out", progress=interrupt)
    assert not (tmp_path / "out").exists()


def test_a_ported_copy_stays(source, tmp_path):
    with pytest.raises(KeyboardInterrupt), copied_tree(source, tmp_path / "out", is_ported=lambda: True):
        raise KeyboardInterrupt
    assert (tmp_path / "out" / "run.sh").exists()


def test_the_source_keeps_its_times(source, tmp_path):
    os.utime(source / "run.sh", (1, 1))
    os.utime(source / "src", (2, 2))
    os.utime(source, (3, 3))

    copy(source, tmp_path / "out")

    assert [path.stat().st_mtime for path in (source / "run.sh", source / "src", source)] == [1, 2, 3]
    assert (tmp_path / "out" / "run.sh").stat().st_mtime == 1
