"""Folders of rocm3d, and folders that it refuses to change."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import cache_folder, cache_path, clear_cache, data_path, state_folder, work_folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("ROCM3D_CACHE", str(path))
    return path


def test_folder_without_our_tag_is_not_cleared(cache):
    cache.mkdir()
    (cache / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="was not created by rocm3d"):
        clear_cache()
    assert (cache / "thesis.tex").read_text() == "years of work"


def test_folder_with_the_tag_of_another_program_is_not_cleared(cache):
    """Many programs write this tag file; its content must be ours."""
    cache.mkdir()
    (cache / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n# made by pip\n")
    (cache / "wheel.whl").write_text("theirs")
    with pytest.raises(UserError, match="was not created by rocm3d"):
        clear_cache()
    assert (cache / "wheel.whl").exists()


def test_folder_with_files_of_others_does_not_become_ours_to_clear(cache):
    """ROCM3D_CACHE=$HOME must not delete the home folder."""
    cache.mkdir()
    (cache / "thesis.tex").write_text("years of work")
    with contextlib.suppress(UserError):
        cache_folder()
    with contextlib.suppress(UserError):
        clear_cache()
    assert (cache / "thesis.tex").read_text() == "years of work"


def test_cache_that_cannot_be_made_is_refused(cache):
    cache.write_text("a file")
    with pytest.raises(UserError, match="cannot create the cache") as failure:
        cache_folder()
    assert failure.value.hint == "set ROCM3D_CACHE"


def test_work_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="--work"):
        work_folder(tmp_path, tmp_path / "file" / "below")
    with pytest.raises(UserError, match="--work"):
        work_folder(tmp_path, tmp_path / "file")


def test_state_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".rocm3d").symlink_to(tmp_path / "outside")
    with contextlib.suppress(UserError, OSError):
        state_folder(tmp_path / "repo")
    assert list((tmp_path / "outside").iterdir()) == []


def test_marker_that_is_a_link_is_not_written_through(tmp_path):
    (tmp_path / "repo" / ".rocm3d").mkdir(parents=True)
    (tmp_path / "repo" / ".rocm3d" / ".gitignore").symlink_to(tmp_path / "outside")
    with contextlib.suppress(UserError, OSError):
        state_folder(tmp_path / "repo")
    assert not (tmp_path / "outside").exists()


def test_no_cache_frees_nothing(cache):
    assert clear_cache() == 0
    assert not cache.exists()


def test_own_cache_is_cleared_and_counted(cache):
    tag = (cache_folder() / "CACHEDIR.TAG").stat().st_size
    (cache / "work").mkdir()
    (cache / "work" / "a").write_bytes(b"x" * 1000)
    (cache / "work" / "link").symlink_to("/etc/passwd")
    assert clear_cache() == 1000 + tag
    assert not cache.exists()
    assert Path("/etc/passwd").exists()


def test_cache_behind_a_link_is_cleared_and_made_again(cache, tmp_path):
    """On clusters the cache is often a link to a scratch disk."""
    (tmp_path / "scratch").mkdir()
    cache.symlink_to(tmp_path / "scratch")
    (cache_folder() / "a").write_bytes(b"x")
    assert clear_cache() > 0
    assert not (cache / "a").exists()
    assert cache_folder().is_dir()


def test_cache_variable_is_honoured_and_nothing_made_by_asking(cache):
    assert cache_path() == cache
    assert not cache.exists()


def test_cache_without_the_variable_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("ROCM3D_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_path() == tmp_path / "rocm3d"


def test_cache_is_tagged_once(cache):
    cache_folder()
    before = (cache / "CACHEDIR.TAG").stat()
    assert cache_folder() == cache
    assert (cache / "CACHEDIR.TAG").stat() == before
    assert (cache / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_state_folder_hides_itself_from_git(tmp_path):
    assert state_folder(tmp_path) == tmp_path / ".rocm3d"
    assert (tmp_path / ".rocm3d" / ".gitignore").read_text() == "*\n"


def test_marker_that_a_user_changed_stays(tmp_path):
    (state_folder(tmp_path) / ".gitignore").write_text("# mine\n")
    state_folder(tmp_path)
    assert (tmp_path / ".rocm3d" / ".gitignore").read_text() == "# mine\n"


def test_work_folder_is_the_requested_one(tmp_path):
    assert work_folder(tmp_path, tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()
    assert not (tmp_path / ".rocm3d").exists()


def test_work_folder_lies_in_the_tree_by_default(tmp_path):
    assert work_folder(tmp_path, None) == tmp_path / ".rocm3d"


def test_work_folder_is_in_the_cache_where_a_file_has_our_name(tmp_path, cache):
    (tmp_path / ".rocm3d").write_text("not ours")
    assert work_folder(tmp_path, None).is_relative_to(cache / "work")
    assert (tmp_path / ".rocm3d").read_text() == "not ours"


@pytest.mark.parametrize("closed", ["repo", "repo/.rocm3d"])
def test_work_folder_of_a_read_only_tree_is_in_the_cache(reachable, run_unprivileged, monkeypatch, closed):
    (reachable / "repo" / ".rocm3d").mkdir(parents=True)
    if closed == "repo":
        (reachable / "repo" / ".rocm3d").rmdir()
    else:
        (reachable / "repo").chmod(0o777)
    (reachable / closed).chmod(0o555)
    (reachable / "cache").mkdir()
    (reachable / "cache").chmod(0o777)
    monkeypatch.setenv("ROCM3D_CACHE", str(reachable / "cache"))
    output = run_unprivileged("print(state.work_folder(place, None))", reachable / "repo")
    result = Path(output.strip())
    assert result.parent == reachable / "cache" / "work"
    assert result.name.startswith("repo-")
    assert result.is_dir()


def test_trees_of_the_same_name_have_work_folders_of_their_own(tmp_path, cache):
    for parent in ("one", "two"):
        (tmp_path / parent / "repo").mkdir(parents=True)
        (tmp_path / parent / "repo" / ".rocm3d").write_text("a file, so the cache is used")
    first, second = (work_folder(tmp_path / parent / "repo", None) for parent in ("one", "two"))
    assert first != second
    assert work_folder(tmp_path / "one" / "repo", None) == first


def test_the_data_folder_is_not_in_the_cache_and_is_not_made_by_asking(tmp_path, monkeypatch):
    monkeypatch.delenv("ROCM3D_DATA")
    assert not data_path().is_relative_to(cache_path())

    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path / "kept"))
    assert data_path() == tmp_path / "kept"
    assert not data_path().exists()
