"""A tree is read within its limits, whatever it contains."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.errors import UserError
from rocm3d.model.inventory import SkippedFile
from rocm3d.workspace.tree import IGNORED_FOLDERS, Tree, TreeLimits


def put(root: Path, *paths: str, content: bytes = b"x\n") -> None:
    for path in paths:
        file_path = root / path
        file_path.parent.mkdir(parents=True, exist_ok=True)
        file_path.write_bytes(content)


def reasons(tree: Tree) -> dict[str, str]:
    """The skipped paths with their reasons, after the walk."""
    tree.paths()
    return {entry.path: entry.reason for entry in tree.skipped}


def test_missing_path_is_refused(tmp_path):
    with pytest.raises(UserError, match="nowhere does not exist") as failure:
        Tree.open(tmp_path / "nowhere")
    assert "folder of a repository" in failure.value.hint


def test_file_instead_of_a_folder_is_refused(tmp_path):
    put(tmp_path, "setup.py")
    with pytest.raises(UserError, match=r"setup\.py is not a folder"):
        Tree.open(tmp_path / "setup.py")


def test_path_too_long_for_the_system_is_refused_in_one_line(tmp_path):
    with pytest.raises(UserError):
        Tree.open(tmp_path / ("a" * 5000))


def test_path_behind_a_closed_folder_is_refused_in_one_line(reachable, run_unprivileged):
    (reachable / "closed" / "repo").mkdir(parents=True)
    (reachable / "closed").chmod(0o700)
    output = run_unprivileged(
        "try:\n    tree.Tree.open(place)\nexcept UserError as error:\n    print('refused')",
        reachable / "closed" / "repo",
    )
    assert output == "refused\n"


def test_link_out_of_the_tree_is_reported_and_not_read(tmp_path):
    put(tmp_path, "secret/key", "repo/a.py")
    (tmp_path / "repo" / "file").symlink_to(tmp_path / "secret" / "key")
    (tmp_path / "repo" / "folder").symlink_to("../secret")
    tree = Tree.open(tmp_path / "repo")
    assert tree.paths() == ["a.py"]
    assert reasons(tree) == dict.fromkeys(["file", "folder"], "is a symlink to a path outside the repository")


def test_link_inside_the_tree_is_reported_and_not_read_twice(tmp_path):
    put(tmp_path, "src/a.py")
    (tmp_path / "b.py").symlink_to("src/a.py")
    (tmp_path / "lib").symlink_to("src")
    tree = Tree.open(tmp_path)
    assert tree.paths() == ["src/a.py"]
    assert reasons(tree) == dict.fromkeys(["b.py", "lib"], "is a symlink; its target is read instead")


def test_link_to_itself_leads_nowhere(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "ping").symlink_to("pong")
    (tmp_path / "pong").symlink_to("ping")
    tree = Tree.open(tmp_path)
    assert tree.paths() == []
    assert reasons(tree) == dict.fromkeys(["loop", "ping", "pong"], "is a broken symlink")


def test_link_to_its_own_folder_ends(tmp_path):
    put(tmp_path, "src/a.py")
    (tmp_path / "src" / "again").symlink_to(".")
    tree = Tree.open(tmp_path)
    assert tree.paths() == ["src/a.py"]
    assert reasons(tree) == {"src/again": "is a symlink; its target is read instead"}


def test_link_to_nothing_leads_nowhere(tmp_path):
    """A broken link has no target to read."""
    (tmp_path / "gone.py").symlink_to("removed.py")
    assert reasons(Tree.open(tmp_path)) == {"gone.py": "is a broken symlink"}


def test_pipe_is_reported_and_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    tree = Tree.open(tmp_path)
    assert tree.paths() == []
    assert reasons(tree) == {"pipe": "is not a regular file"}


def test_file_of_50_megabytes_is_listed_but_not_read(tmp_path):
    with (tmp_path / "weights.bin").open("wb") as stream:
        stream.truncate(50_000_000)
    tree = Tree.open(tmp_path)
    assert tree.paths() == ["weights.bin"]
    assert tree.size("weights.bin") == 50_000_000
    assert tree.read("weights.bin") is None
    assert reasons(tree) == {"weights.bin": "is 50.0 MB, above the limit of 4 MiB"}


def test_file_one_byte_over_the_limit_is_not_read_and_one_at_the_limit_is(tmp_path):
    put(tmp_path, "at", content=b"12345678")
    put(tmp_path, "over", content=b"123456789")
    tree = Tree.open(tmp_path, TreeLimits(file_bytes=8))
    assert tree.read("at") == b"12345678"
    assert tree.read("over") is None


def test_file_reported_twice_is_one_entry(tmp_path):
    put(tmp_path, "big", content=b"123456789")
    tree = Tree.open(tmp_path, TreeLimits(file_bytes=8))
    tree.read("big")
    tree.read("big")
    assert len(tree.skipped) == 1


def test_folder_below_the_depth_limit_is_reported(tmp_path):
    put(tmp_path, "1/2/kept.py", "1/2/3/lost.py")
    tree = Tree.open(tmp_path, TreeLimits(depth=2))
    assert tree.paths() == ["1/2/kept.py"]
    assert reasons(tree) == {"1/2/3": "is deeper than 2 folders"}


def test_files_beyond_the_count_limit_are_reported(tmp_path):
    put(tmp_path, "a", "b", "c", "d")
    tree = Tree.open(tmp_path, TreeLimits(files=3))
    assert tree.paths() == ["a", "b", "c"]
    assert reasons(tree) == {".": "has more than 3 files; the others were not read"}


def test_as_many_files_as_the_limit_are_no_reason_to_report(tmp_path):
    put(tmp_path, "a", "b", "c")
    tree = Tree.open(tmp_path, TreeLimits(files=3))
    assert tree.paths() == ["a", "b", "c"]
    assert tree.skipped == []


@pytest.mark.parametrize("kind", ["file", "link", "pipe", "file in folder", "link in folder"])
def test_name_that_is_not_utf8_is_reported_as_valid_json(tmp_path, kind):
    name = os.fsencode(tmp_path) + b"/caf\xe9"
    if kind.endswith("in folder"):
        os.mkdir(name)  # noqa: PTH102  (pathlib takes no bytes)
        name += b"/plain"
    if kind.startswith("file"):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    elif kind.startswith("link"):
        Path(os.fsdecode(name)).symlink_to("/etc/passwd")
    else:
        os.mkfifo(name)
    tree = Tree.open(tmp_path)
    assert tree.paths() == []
    assert len(tree.skipped) == 1
    assert tree.skipped[0].path.startswith("caf")
    assert SkippedFile.model_validate_json(tree.skipped[0].model_dump_json()) == tree.skipped[0]


def test_unreadable_file_is_reported(reachable, run_unprivileged):
    put(reachable, "closed.py", "open.py")
    (reachable / "closed.py").chmod(0)
    output = run_unprivileged(
        "t = tree.Tree.open(place)\nprint([t.read(p) for p in t.paths()], t.skipped[0].path, t.skipped[0].reason)",
        reachable,
    )
    assert output == "[None, b'x\\n'] closed.py cannot be read: Permission denied\n"


def test_unreadable_folder_is_reported(reachable, run_unprivileged):
    put(reachable, "closed/a.py", "open.py")
    (reachable / "closed").chmod(0o700)
    output = run_unprivileged(
        "t = tree.Tree.open(place)\nprint(t.paths(), t.skipped[0].path, t.skipped[0].reason)", reachable
    )
    assert output == "['open.py'] closed cannot be listed: Permission denied\n"


@pytest.mark.parametrize("name", sorted(IGNORED_FOLDERS))
def test_folder_that_holds_no_source_is_never_walked(tmp_path, name):
    put(tmp_path, "a.py", f"{name}/b.py", f"deep/{name}/c.py")
    assert Tree.open(tmp_path).paths() == ["a.py"]


def test_folders_of_git_and_rocm3d_and_node_are_among_the_unwalked():
    assert {".git", ".rocm3d", "node_modules", "__pycache__", ".venv"} <= IGNORED_FOLDERS


def test_left_out_folder_counts_only_at_the_top(tmp_path):
    put(tmp_path, "rocm-port/a.py", "src/rocm-port/b.py")
    assert Tree.open(tmp_path, excluded_folders=frozenset({"rocm-port"})).paths() == ["src/rocm-port/b.py"]


def test_left_out_name_does_not_hide_a_file(tmp_path):
    put(tmp_path, "rocm-port")
    assert Tree.open(tmp_path, excluded_folders=frozenset({"rocm-port"})).paths() == ["rocm-port"]


def test_file_swapped_for_a_link_after_the_walk_is_not_followed(tmp_path):
    put(tmp_path, "secret", content=b"key")
    put(tmp_path, "repo/a.py")
    tree = Tree.open(tmp_path / "repo")
    assert tree.paths() == ["a.py"]
    (tmp_path / "repo" / "a.py").unlink()
    (tmp_path / "repo" / "a.py").symlink_to(tmp_path / "secret")
    assert tree.read("a.py") is None
    assert reasons(tree)["a.py"].startswith("cannot be read: ")


def test_folder_swapped_for_a_link_after_the_walk_is_not_followed(tmp_path):
    put(tmp_path, "outside/a.py", content=b"key")
    put(tmp_path, "repo/src/a.py")
    tree = Tree.open(tmp_path / "repo")
    assert tree.paths() == ["src/a.py"]
    (tmp_path / "repo" / "src").rename(tmp_path / "moved")
    (tmp_path / "repo" / "src").symlink_to(tmp_path / "outside")
    assert tree.read("src/a.py") is None
    assert reasons(tree)["src/a.py"].startswith("cannot be read: ")


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_file_swapped_for_something_else_after_the_walk_is_reported(tmp_path, make):
    put(tmp_path, "a.py")
    tree = Tree.open(tmp_path)
    assert tree.paths() == ["a.py"]
    (tmp_path / "a.py").unlink()
    make(tmp_path / "a.py")
    assert tree.read("a.py") is None
    assert "a.py" in reasons(tree)


def test_file_removed_after_the_walk_is_reported(tmp_path):
    put(tmp_path, "a.py")
    tree = Tree.open(tmp_path)
    assert tree.paths() == ["a.py"]
    (tmp_path / "a.py").unlink()
    assert tree.read("a.py") is None
    assert reasons(tree) == {"a.py": "cannot be read: No such file or directory"}


@pytest.mark.parametrize("kind", ["nothing", "folder", "link", "pipe", "large"])
def test_peek_at_an_unreadable_path_is_none(tmp_path, kind):
    (tmp_path / "real").write_bytes(b"x" * 11)
    file_path = tmp_path / "asked"
    {
        "nothing": lambda: None,
        "folder": file_path.mkdir,
        "link": lambda: file_path.symlink_to("real"),
        "pipe": lambda: os.mkfifo(file_path),
        "large": lambda: file_path.write_bytes(b"x" * 11),
    }[kind]()

    assert Tree.open(tmp_path, TreeLimits(file_bytes=10)).peek("asked") is None


def test_a_peek_reads_one_file_without_a_walk(tmp_path):
    (tmp_path / "a").write_bytes(b"\xff1")
    (tmp_path / "out").symlink_to("/")
    tree = Tree.open(tmp_path, overlay={"b": b"2", "c": None})

    assert [tree.peek(path) for path in "abc"] == [b"\xff1", b"2", None]
    assert tree.skipped == []


def test_overlay_hides_one_file_and_shows_another(tmp_path):
    put(tmp_path, "hidden.py", "shown.py", "same.py")
    tree = Tree.open(tmp_path, overlay={"hidden.py": None, "shown.py": b"other", "new/file.py": b"new!"})
    assert tree.paths() == ["new/file.py", "same.py", "shown.py"]
    assert "hidden.py" not in tree
    assert [tree.read(path) for path in tree.paths()] == [b"new!", b"x\n", b"other"]
    assert tree.size("new/file.py") == 4
    assert tree.size("shown.py") == 5
    assert (tmp_path / "shown.py").read_bytes() == b"x\n"


def test_paths_are_sorted_and_posix(tmp_path):
    put(tmp_path, "b.py", "a/z.py", "a.py", "a/b/c.py", "B.py")
    assert Tree.open(tmp_path).paths() == ["B.py", "a.py", "a/b/c.py", "a/z.py", "b.py"]


def test_empty_folder_is_an_empty_tree(tmp_path):
    tree = Tree.open(tmp_path)
    assert tree.paths() == []
    assert tree.skipped == []


def test_tree_reached_through_a_link_is_named_for_the_real_folder(tmp_path):
    put(tmp_path, "real/a.py")
    (tmp_path / "link").symlink_to("real")
    tree = Tree.open(tmp_path / "link")
    assert tree.name == "real"
    assert tree.read("a.py") == b"x\n"


@given(content=st.binary(max_size=300))
def test_odd_bytes_come_back_unchanged(tmp_path_factory, content):
    root = tmp_path_factory.mktemp("bytes")
    put(root, "odd", content=content)
    assert Tree.open(root).read("odd") == content


def test_skip_reasons_equal_skipped(tmp_path):
    put(tmp_path, "a")
    (tmp_path / "out").symlink_to("/")
    tree = Tree.open(tmp_path)
    tree.paths()

    assert [(item.path, item.reason) for item in tree.skipped] == [pair[:2] for pair in tree.skip_reasons] != []
