"""The state of a work tree is that of `git status`, and no filter runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hostile_git import git, make_stale
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm3d.model.errors import UserError
from rocm3d.workspace.git import committed_file, head_commit, uncommitted_paths, uncommitted_state
from rocm3d.workspace.work_tree import StatusEntry, parse_status


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path_factory):
    """Isolates the tests from the git settings of the user."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / "gitconfig"))
    return folder


@pytest.fixture
def trap(tmp_path):
    """A program, and the file that it creates when it runs."""
    program, trace = tmp_path / "trap.sh", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\ncat\n")
    program.chmod(0o755)
    return program, trace


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    return root


def commit(root: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "files")


def paths_of_git(root: Path) -> list[str]:
    """Both names of a rename, as git itself reports them."""
    entries, paths = iter(git(root, "status", "--porcelain", "-z").split("\0")), []
    for entry in entries:
        if entry:
            paths.append(entry[3:])
            if set(entry[:2]) & {"R", "C"}:
                paths.append(next(entries))
    return sorted(paths)


def pointer(content: bytes) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n".encode()


# Filters that cannot run


@pytest.fixture
def with_lfs(checkout, home, trap):
    """A checkout with weights in Git LFS, and a user whose filter is the trap."""
    weights = b"weights " * 1000
    commit(
        checkout, {".gitattributes": b"*.bin filter=lfs diff=lfs -text\n", "a.py": b"x\n", "w.bin": pointer(weights)}
    )
    (checkout / "w.bin").write_bytes(weights)
    home.joinpath("gitconfig").write_text(
        f'[filter "lfs"]\n\tclean = {trap[0]}\n\tsmudge = {trap[0]}\n\tprocess = {trap[0]}\n\trequired = true\n'
    )
    return checkout


def test_content_that_an_lfs_pointer_names_is_clean(with_lfs, trap):
    assert uncommitted_state(with_lfs).changed == uncommitted_state(with_lfs).unknown == ()
    assert not trap[1].exists()


def test_other_content_under_the_filter_of_the_user_is_unknown(with_lfs, trap):
    (with_lfs / "w.bin").write_bytes(b"other weights")
    (with_lfs / "a.py").write_bytes(b"changed\n")
    state = uncommitted_state(with_lfs)
    assert (state.changed, state.unknown) == (("a.py",), ("w.bin",))
    assert uncommitted_paths(with_lfs) == ["a.py", "w.bin"]
    assert not trap[1].exists()


def test_same_size_and_another_content_is_unknown(with_lfs):
    data = (with_lfs / "w.bin").read_bytes()
    (with_lfs / "w.bin").write_bytes(b"W" + data[1:])
    assert uncommitted_state(with_lfs).unknown == ("w.bin",)


def test_file_with_a_filter_that_is_removed_or_executable_is_changed(with_lfs):
    (with_lfs / "w.bin").chmod(0o755)
    assert uncommitted_state(with_lfs).changed == ("w.bin",)
    (with_lfs / "w.bin").unlink()
    assert uncommitted_state(with_lfs).changed == ("w.bin",)


def test_filter_that_nobody_configured_leaves_the_bytes(checkout):
    """git compares the bytes then, and so does rocm3d."""
    commit(checkout, {".gitattributes": b"* filter=nothing\n", "a.py": b"x\n"})
    (checkout / "a.py").write_bytes(b"changed\n")
    assert uncommitted_state(checkout).changed == ("a.py",)


def test_many_files_with_a_filter_are_all_named(checkout, trap):
    names = [f"{number:03} ü.bin" for number in range(210)]
    commit(checkout, {".gitattributes": b"*.bin filter=evil\n", **dict.fromkeys(names, b"x\n")})
    git(checkout, "config", "filter.evil.clean", trap[0])
    for name in names:
        (checkout / name).write_bytes(b"other\n")
    assert sorted(uncommitted_state(checkout).unknown) == names
    assert not trap[1].exists()


def test_file_of_unknown_state_makes_its_submodule_unknown(checkout, tmp_path, trap):
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q")
    commit(origin, {".gitattributes": b"*.cu filter=evil\n", "a.cu": b"x\n"})
    git(checkout, "submodule", "--quiet", "add", origin, "libs/knn")
    commit(checkout, {})
    git(checkout / "libs/knn", "config", "filter.evil.clean", trap[0])
    make_stale(checkout)
    assert uncommitted_paths(checkout) == []
    (checkout / "libs/knn/a.cu").write_bytes(b"other\n")
    assert uncommitted_state(checkout).unknown == ("libs/knn",)
    assert not trap[1].exists()


def test_committed_file_with_a_filter_has_the_bytes_of_the_commit(with_lfs, trap):
    assert committed_file(with_lfs, "w.bin") == pointer((with_lfs / "w.bin").read_bytes())
    assert not trap[1].exists()


# Line endings and other values


@pytest.mark.parametrize(
    ("attributes", "key", "value", "expected"),
    [
        (b"", "core.autocrlf", "true", b"a\r\nb\r\n"),
        (b"", "core.autocrlf", "input", b"a\nb\n"),
        (b"* text=auto\n", "core.eol", "crlf", b"a\r\nb\r\n"),
        (b"*.py text eol=crlf\n", "core.eol", "lf", b"a\r\nb\r\n"),
        (b"*.py -text\n", "core.autocrlf", "true", b"a\nb\n"),
    ],
)
@pytest.mark.parametrize("scope", ["--local", "--worktree", "--global", "include"])
def test_line_endings_are_those_of_the_checkout(checkout, home, attributes, key, value, expected, scope):
    commit(checkout, {".gitattributes": attributes, "a.py": b"a\nb\n"})
    if scope == "include":
        git(checkout, "config", "--file", checkout / ".git" / "more", key, value)
        git(checkout, "config", "include.path", "more")
    elif scope == "--global":
        git(checkout, "config", "--file", home / "gitconfig", key, value)
    else:
        git(checkout, "config", "extensions.worktreeConfig", "true")
        git(checkout, "config", scope, key, value)
    (checkout / "a.py").unlink()
    git(checkout, "-c", f"{key}={value}", "checkout", "a.py")
    assert (checkout / "a.py").read_bytes() == expected
    assert committed_file(checkout, "a.py") == expected
    assert uncommitted_paths(checkout) == []


def test_line_endings_of_attributes_outside_the_tree_apply(checkout, home):
    commit(checkout, {"a.py": b"a\n", "b.txt": b"b\n", "c.md": b"c\n"})
    home.joinpath(".config/git").mkdir(parents=True)
    home.joinpath(".config/git/attributes").write_text("*.py text eol=crlf\n")
    (checkout / ".git/info/attributes").write_text("*.txt text eol=crlf\n")
    assert [committed_file(checkout, name) for name in ("a.py", "b.txt", "c.md")] == [b"a\r\n", b"b\r\n", b"c\n"]


def test_untracked_files_that_the_repository_hides_are_named(checkout):
    """An edit of such a file could not be taken back with git."""
    git(checkout, "config", "status.showUntrackedFiles", "no")
    (checkout / "a.py").write_bytes(b"x\n")
    assert uncommitted_paths(checkout) == ["a.py"]


# Submodules


@pytest.fixture(scope="module")
def inner_template(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("template")
    checkout = tmp_path / "repo"
    checkout.mkdir()
    git(checkout, "init", "-q")
    for name in ("inner", "knn"):
        origin = tmp_path / name
        origin.mkdir()
        git(origin, "init", "-q")
        commit(origin, {"a.cu": b"x\n"})
    git(tmp_path / "knn", "submodule", "--quiet", "add", tmp_path / "inner", "inner")
    commit(tmp_path / "knn", {})
    git(checkout, "submodule", "--quiet", "add", tmp_path / "knn", "libs/knn")
    git(checkout, "submodule", "--quiet", "update", "--init", "--recursive")
    commit(checkout, {})
    return checkout


@pytest.fixture
def with_inner(inner_template, tmp_path):
    """libs/knn is a submodule with another one in `inner`."""
    return shutil.copytree(inner_template, tmp_path / "repo", symlinks=True)


CHANGES = {
    "nothing": lambda root: None,
    "content": lambda root: (root / "libs/knn/a.cu").write_bytes(b"y\n"),
    "untracked": lambda root: (root / "libs/knn/new").write_bytes(b"y\n"),
    "staged": lambda root: ((root / "libs/knn/a.cu").write_bytes(b"y\n"), git(root / "libs/knn", "add", "a.cu")),
    "commit": lambda root: commit(root / "libs/knn", {"a.cu": b"y\n"}),
    "staged commit": lambda root: (commit(root / "libs/knn", {"a.cu": b"y\n"}), git(root, "add", "libs/knn")),
    "inner content": lambda root: (root / "libs/knn/inner/a.cu").write_bytes(b"y\n"),
    "inner untracked": lambda root: (root / "libs/knn/inner/new").write_bytes(b"y\n"),
    "inner commit": lambda root: commit(root / "libs/knn/inner", {"a.cu": b"y\n"}),
    "not checked out": lambda root: git(root, "submodule", "deinit", "--force", "libs/knn"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "ignore",
    ["", "all", "dirty", "untracked", "none", "config all", "default all", "default dirty", "default untracked"],
)
def test_submodules_are_as_git_shows_them(with_inner, ignore, change):
    if ignore.startswith(("config", "default")):
        key = "submodule.libs/knn.ignore" if ignore.startswith("config") else "diff.ignoreSubmodules"
        git(with_inner, "config", key, ignore.split()[1])
    elif ignore:
        git(with_inner, "config", "--file", ".gitmodules", "submodule.libs/knn.ignore", ignore)
        commit(with_inner, {})
    CHANGES[change](with_inner)
    assert sorted(uncommitted_paths(with_inner)) == paths_of_git(with_inner)


def test_submodule_that_git_cannot_read_is_an_error(with_inner):
    (with_inner / ".git/modules/libs/knn/HEAD").unlink()
    with pytest.raises(UserError, match="libs/knn"):
        uncommitted_paths(with_inner)


def test_submodule_behind_a_link_is_not_read(with_inner, tmp_path):
    (with_inner / "libs").rename(tmp_path / "libs")
    (with_inner / "libs").symlink_to(tmp_path / "libs")
    assert sorted(uncommitted_paths(with_inner)) == paths_of_git(with_inner)


# The same as git, on random trees


def in_git(root: Path, path: Path, *command: str) -> None:
    if git(root, "ls-files", "--", path.relative_to(root)):
        git(root, *command)


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# Each changes a file; the number makes new names unique.
ACTIONS = {
    "edit": lambda root, path, number: path.write_bytes(path.read_bytes() + b"more\n"),
    "same bytes": lambda root, path, number: path.write_bytes(path.read_bytes()),
    "touch": lambda root, path, number: os.utime(path, (number, number)),
    "delete": lambda root, path, number: path.unlink(),
    "move": lambda root, path, number: path.rename(root / f"moved{number}.py"),
    "git mv": lambda root, path, number: in_git(root, path, "mv", str(path), f"moved{number}.py"),
    "chmod": lambda root, path, number: path.chmod(0o755),
    "link": lambda root, path, number: (path.unlink(), path.symlink_to("elsewhere")),
    "stage": lambda root, path, number: (write(path, b"staged\n"), git(root, "add", "--sparse", path)),
    "new": lambda root, path, number: write(root / f"new {number}.py", b"new\n"),
    "new folder": lambda root, path, number: write(root / f"folder{number}" / "deep" / "x.py", b"new\n"),
    "ignored": lambda root, path, number: write(root / f"{number}.log", b"new\n"),
    "intent": lambda root, path, number: (
        write(root / f"intent{number}.py", b"new\n"),
        git(root, "add", "--sparse", "--intent-to-add", f"intent{number}.py"),
    ),
    "crlf": lambda root, path, number: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
    "assume": lambda root, path, number: in_git(root, path, "update-index", "--assume-unchanged", str(path)),
    "folder for file": lambda root, path, number: (path.unlink(), write(path / "inside.py", b"x\n")),
}
NAMES = ("a.py", "b.txt", "lib/c.py", "lib/deep/d.cu", "ü ö.md", "run.sh")


FILES = {name: f"# {name} $Id$\n".encode() * 5 for name in NAMES} | {".gitignore": b"*.log\n"}
VALUES = ("core.autocrlf", "core.fileMode", "core.symlinks", "core.ignoreCase", "core.trustctime")
ATTRIBUTES = ("", "* text=auto\n", "*.py text eol=crlf\n*.txt -text\n", "*.md ident\n")


def linked(main: Path) -> Path:
    git(main, "worktree", "add", "-q", main.parent / "linked", "HEAD")
    return main.parent / "linked"


def linked_with_branch(main: Path) -> Path:
    git(main, "worktree", "add", "-q", "-b", "other", main.parent / "linked")
    return main.parent / "linked"


def bare_and_linked(root: Path) -> Path:
    git(root, "clone", "-q", "--bare", root, root.parent / "bare.git")
    return linked(root.parent / "bare.git")


def without_commit(root: Path) -> Path:
    git(root, "update-ref", "-d", "HEAD")
    return root


# Each returns the folder of the work tree.
LAYOUTS = {
    "plain": lambda root: root,
    "linked with a branch": linked_with_branch,
    "linked work tree": linked,
    "bare, and linked work tree": bare_and_linked,
    "split index": lambda root: (git(root, "update-index", "--split-index"), root)[1],
    "untracked cache": lambda root: (git(root, "update-index", "--untracked-cache"), git(root, "status"), root)[2],
    "sparse": lambda root: (git(root, "sparse-checkout", "set", "--cone", "lib"), root)[1],
    "sparse index": lambda root: (git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "lib"), root)[1],
    "packed": lambda root: (git(root, "gc", "-q"), root)[1],
    "no commit": without_commit,
}


@settings(max_examples=30)
@given(
    actions=st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), st.sampled_from(NAMES)), max_size=6),
    layout=st.sampled_from(sorted(LAYOUTS)),
    object_format=st.sampled_from(["sha1", "sha256"]),
    values=st.dictionaries(st.sampled_from(VALUES), st.sampled_from(["true", "false"]), max_size=2),
    attributes=st.sampled_from(ATTRIBUTES),
)
def test_state_is_that_of_git(actions, layout, object_format, values, attributes):
    with tempfile.TemporaryDirectory() as scratch:
        main = Path(scratch).resolve() / "repo"
        main.mkdir()
        git(main, "init", "-q", "-b", "main", f"--object-format={object_format}")
        commit(main, {**FILES, ".gitattributes": attributes.encode()})
        root = LAYOUTS[layout](main)
        for key, value in values.items():
            git(root, "config", key, value)
        for number, (action, name) in enumerate(actions, 1):
            if (root / name).is_file() and not (root / name).is_symlink():
                ACTIONS[action](root, root / name, number)
        assert sorted(uncommitted_paths(root)) == paths_of_git(root)
        assert sorted(uncommitted_paths(root / "lib")) == below(paths_of_git(root), "lib/")
        assert (head_commit(root) is None) == (layout == "no commit")


def below(paths: list[str], folder: str) -> list[str]:
    return [path.removeprefix(folder) for path in paths if path.startswith(folder)]


def test_status_entries_are_read():
    text = (
        "1 .M N... 100644 100644 100644 aa bb a b.py\0"
        "2 R. N... 100644 100644 100644 aa bb R100 new name\0old name\0"
        "u UU N... 100644 100644 100644 100644 aa bb cc both.py\0"
        "? new\nline\0"
    )
    assert list(parse_status(text)) == [
        StatusEntry("a b.py", ".", "M", "100644", "100644", "bb"),
        StatusEntry("new name", "R", "."),
        StatusEntry("old name", "R", "."),
        StatusEntry("both.py", "U", "U"),
        StatusEntry("new\nline", "?", "?"),
    ]


def test_linked_work_tree_on_a_branch_is_clean(tmp_path):
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    (main / "a.py").write_text("a\n")
    git(main, "add", ".")
    git(main, "commit", "-qm", "a")
    folder = linked_with_branch(main)

    assert uncommitted_paths(folder) == []
