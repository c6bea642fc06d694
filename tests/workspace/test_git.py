"""The git state is read without running programs of the repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocm3d.model.errors import UserError
from rocm3d.workspace.git import origin_url, uncommitted_paths


@pytest.fixture(autouse=True)
def _no_settings_of_ours(monkeypatch, tmp_path_factory):
    """Isolates the tests from the git settings of the user and from an outer checkout."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("GIT_DIR", raising=False)


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, "-C", str(root), *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """A clean checkout with a few files."""
    root = tmp_path / "repo"
    for path in ("a.py", "lib/b.py", "lib/deep/c.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"# {path}, long enough for git to see it moved\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def trap(folder: Path) -> tuple[Path, Path]:
    """A program, and the file that it creates when it runs."""
    program, trace = folder / "trap.sh", folder / "it-ran"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\ncat\n")
    program.chmod(0o755)
    return program, trace


def test_folder_outside_git_is_not_tracked(tmp_path):
    (tmp_path / "a.py").write_text("x\n")
    assert uncommitted_paths(tmp_path) is None


def test_machine_without_git_is_not_tracked(repository, monkeypatch):
    (repository / "a.py").write_text("changed\n")
    monkeypatch.setenv("PATH", "")
    assert uncommitted_paths(repository) is None


def test_ignored_folder_is_not_tracked(repository):
    (repository / ".gitignore").write_text("/out/\n")
    (repository / "out").mkdir()
    (repository / "out" / "a.py").write_text("x\n")
    assert uncommitted_paths(repository / "out") is None


def test_damaged_repository_is_never_called_clean(repository):
    """If a failing git counted as clean, apply would overwrite uncommitted work."""
    (repository / "a.py").write_text("changed\n")
    (repository / ".git" / "index").write_bytes(b"no index")
    with pytest.raises(UserError, match="git"):
        uncommitted_paths(repository)


def test_file_monitor_of_the_repository_is_not_started(repository, tmp_path):
    program, trace = trap(tmp_path)
    git(repository, "config", "core.fsmonitor", str(program))
    (repository / "a.py").write_text("changed\n")
    assert uncommitted_paths(repository) == ["a.py"]
    assert not trace.exists()


@pytest.mark.parametrize("key", ["clean", "process"])
def test_filter_of_the_repository_is_not_started(repository, tmp_path, key):
    """`git status` runs the filter on a file with a new modification time."""
    program, trace = trap(tmp_path)
    (repository / ".gitattributes").write_text("*.py filter=evil\n")
    git(repository, "add", ".gitattributes")
    git(repository, "commit", "-qm", "attributes")
    git(repository, "config", f"filter.evil.{key}", str(program))
    (repository / "a.py").touch()
    uncommitted_paths(repository)
    assert not trace.exists()


def test_hook_of_the_repository_is_not_started(repository, tmp_path):
    program, trace = trap(tmp_path)
    shutil.copy(program, repository / ".git" / "hooks" / "post-index-change")
    (repository / "a.py").touch()
    assert uncommitted_paths(repository) == []
    assert not trace.exists()


def test_file_monitor_of_a_submodule_is_not_started(repository, tmp_path):
    program, trace = trap(tmp_path)
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    git(repository, "submodule", "add", "-q", str(other), "sub")
    git(repository, "commit", "-qm", "submodule")
    git(repository / "sub", "config", "core.fsmonitor", str(program))
    uncommitted_paths(repository)
    assert not trace.exists()


def test_clean_checkout_has_nothing_uncommitted(repository):
    assert uncommitted_paths(repository) == []
    assert uncommitted_paths(repository / "lib") == []


def test_our_own_folder_leaves_a_checkout_clean(repository):
    (repository / ".rocm3d").mkdir()
    (repository / ".rocm3d" / ".gitignore").write_text("*\n")
    (repository / ".rocm3d" / "plan.json").write_text("{}\n")
    assert uncommitted_paths(repository) == []


def test_changed_staged_removed_and_untracked_files_are_named(repository):
    (repository / "a.py").write_text("changed\n")
    (repository / "lib" / "b.py").unlink()
    (repository / "new.py").write_text("x\n")
    (repository / "staged.py").write_text("x\n")
    git(repository, "add", "staged.py")
    assert sorted(uncommitted_paths(repository) or []) == ["a.py", "lib/b.py", "new.py", "staged.py"]


def test_odd_names_come_back_as_they_are(repository):
    names = ["a b.py", "ü.py", 'quo"te.py', "new\nline.py", "-> x.py"]
    for name in names:
        (repository / name).write_text("x\n")
    assert sorted(uncommitted_paths(repository) or []) == sorted(names)


def test_names_are_relative_to_a_subfolder_and_stay_below_it(repository):
    (repository / "a.py").write_text("changed\n")
    (repository / "lib" / "b.py").write_text("changed\n")
    (repository / "lib" / "deep" / "new.py").write_text("x\n")
    assert sorted(uncommitted_paths(repository / "lib") or []) == ["b.py", "deep/new.py"]


def test_renamed_file_is_named_twice(repository):
    git(repository, "mv", "lib/b.py", "lib/moved.py")
    (repository / "lib" / "z.py").write_text("x\n")
    assert sorted(uncommitted_paths(repository / "lib") or []) == ["b.py", "moved.py", "z.py"]


def test_file_renamed_without_staging_is_named_twice(repository):
    """`git add -N` makes git report a rename in the working tree."""
    (repository / "lib" / "b.py").rename(repository / "lib" / "moved.py")
    git(repository, "add", "-N", "lib/moved.py")
    assert sorted(uncommitted_paths(repository) or []) == ["lib/b.py", "lib/moved.py"]


def test_origin_is_that_of_the_checkout(tmp_path):
    git(tmp_path, "init", "-q")
    inner = tmp_path / "inner"
    inner.mkdir()

    assert origin_url(tmp_path) == origin_url(inner) == ""
    git(tmp_path, "remote", "add", "origin", "https://host.org/acme/splats")
    assert origin_url(tmp_path) == "https://host.org/acme/splats"
    assert origin_url(inner) == ""
