"""Nothing that a repository configures starts, and its data is read as git reads it."""

from __future__ import annotations

import contextlib
import os
import shutil

import pytest
from hostile_git import ATTACKS, HostileCheckout, git, hostile_checkout, make_stale

from rocm3d.model.errors import UserError
from rocm3d.workspace.git import committed_file, head_commit, origin_url, uncommitted_paths


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path_factory):
    """Isolates the tests from the git settings of the user."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


def read_everything(root, *more):
    for folder in (root, *more, *(path.parent for path in root.rglob(".git") if path.parent != root)):
        with contextlib.suppress(UserError):
            uncommitted_paths(folder)
        head_commit(folder)
        origin_url(folder)
        for name in ("a.py", "knn.cu", "missing"):
            committed_file(folder, name)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_program_of_the_repository_starts(tmp_path, attack):
    checkout = hostile_checkout(tmp_path, attack)
    read_everything(checkout.root)
    assert not checkout.trace.exists(), checkout.trace.read_text()


@pytest.mark.parametrize("attack", ["partial clone without a file", "partial clone by ext"])
def test_moved_file_is_not_compared_with_one_that_must_be_fetched(tmp_path, attack):
    """git looks for renames in the contents."""
    checkout = hostile_checkout(tmp_path, attack)
    (checkout.root / "a.py").rename(checkout.root / "b.py")
    git(checkout.root, "add", "-N", "b.py")
    read_everything(checkout.root)
    assert not checkout.trace.exists()


def test_embedded_bare_repository_is_not_read(tmp_path):
    """A folder that looks like the data of git has a configuration, too: it may be committed in a repository."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    bare = root / "fixtures"
    git(root, "init", "-q", "--bare", bare)
    hostile = HostileCheckout(tmp_path, root)
    hostile.configure(bare, settings=("core.fsmonitor", "filter.evil.clean"))
    git(bare, "config", "core.bare", "false")
    git(bare, "config", "core.worktree", bare)
    (bare / "objects" / "a.py").write_text("x\n")
    for folder in (bare, bare / "objects"):
        with pytest.raises(UserError, match="bare repository"):
            uncommitted_paths(folder)
        read_everything(folder)
    assert not hostile.trace.exists()


@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_DIR": "other/.git"},
        {"GIT_DIR": "other/.git", "GIT_WORK_TREE": "."},
        {"GIT_INDEX_FILE": "other/.git/index"},
        {"GIT_EXTERNAL_DIFF": "PROGRAM", "GIT_PAGER": "PROGRAM", "GIT_SSH_COMMAND": "PROGRAM"},
        {"GIT_TRACE": "PROGRAM.trace", "GIT_TRACE2_EVENT": "PROGRAM.trace"},
        {"GIT_OBJECT_DIRECTORY": "other/.git/objects"},
        {"GIT_NAMESPACE": "x", "GIT_CEILING_DIRECTORIES": "/nowhere"},
    ],
    ids=str,
)
def test_variables_of_git_name_no_other_repository(tmp_path, monkeypatch, variables):
    """As in a hook, where git sets them."""
    checkout = hostile_checkout(tmp_path, "filter in .git/config")
    shutil.copytree(checkout.root, checkout.root.parent / "other")
    (checkout.root / "a.py").unlink()
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("PROGRAM", str(checkout.program)))
    assert uncommitted_paths(checkout.root) == ["a.py"]
    assert not checkout.trace.exists()


def test_settings_of_the_user_apply(tmp_path, home):
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    for name in ("a.log", "a.tmp", "a.py"):
        (root / name).write_text("x\n")
    (home / "xdg" / "git").mkdir(parents=True)
    (home / "xdg" / "git" / "ignore").write_text("*.log\n")
    assert uncommitted_paths(root) == ["a.py", "a.tmp"]
    (home / "mine").write_text("*.tmp\n")
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    assert uncommitted_paths(root) == ["a.log", "a.py"]


@pytest.fixture
def of_another_owner(tmp_path, monkeypatch):
    """git itself has a variable for its tests of owners."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.py").write_text("x\n")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    return root


def test_repository_of_another_user_is_refused_with_the_remedy_of_git(of_another_owner):
    with pytest.raises(UserError, match="belongs to another user") as raised:
        uncommitted_paths(of_another_owner)
    assert "\n" not in raised.value.message
    assert f"git config --global --add safe.directory {of_another_owner}" in raised.value.hint
    assert head_commit(of_another_owner) is None
    assert origin_url(of_another_owner) == ""


def test_repository_of_another_user_that_the_user_trusts_is_read(of_another_owner, home):
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {of_another_owner}\n")
    assert uncommitted_paths(of_another_owner) == ["a.py"]


def test_repository_cannot_declare_itself_safe(of_another_owner):
    with (of_another_owner / ".git" / "config").open("a") as file:
        file.write("[safe]\n\tdirectory = *\n")
    with pytest.raises(UserError, match="belongs to another user"):
        uncommitted_paths(of_another_owner)


def test_damaged_configuration_is_one_clear_line(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "config").write_text("[core\n\x1b[31m")
    with pytest.raises(UserError, match="bad config line") as raised:
        uncommitted_paths(tmp_path)
    assert raised.value.message.isprintable()


@pytest.mark.parametrize(
    "name",
    [
        ".git/index",
        ".git/config",
        ".git/HEAD",
        ".git/info/exclude",
        ".gitignore",
        "sub/.gitattributes",
        ".gitmodules",
    ],
)
def test_pipe_that_git_would_wait_for_is_refused(tmp_path, name):
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(UserError, match="it is not a file"):
        uncommitted_paths(tmp_path)


def test_pipe_above_the_folder_is_refused(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / ".gitignore")
    with pytest.raises(UserError, match="it is not a file"):
        uncommitted_paths(tmp_path / "sub")


def test_reading_changes_nothing_in_the_repository(tmp_path):
    checkout = hostile_checkout(tmp_path, "filter in .git/config")

    def state():
        return {path: path.lstat().st_mtime_ns for path in [checkout.root, *checkout.root.rglob("*")]}

    before = state()
    read_everything(checkout.root)
    make_stale(checkout.root)
    read_everything(checkout.root)
    after = state()
    assert before.keys() == after.keys()
    assert {path for path in before if before[path] != after[path] and ".git" in path.parts} == set()
