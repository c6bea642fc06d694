"""`--into`: the source stays as it is, nothing is left of a copy that was refused. In place without git needs --yes."""

from __future__ import annotations

import json
import shutil

import pytest

KERNEL = b"#include <device_launch_parameters.h>\n__global__ void k() {}\n"
GPU = ("--gpu", "mi300x")


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "source"
    root.mkdir()
    (root / "a.py").write_text("import torch\n")
    (root / "b.cu").write_bytes(KERNEL)
    return root


@pytest.fixture
def committed(source, git):
    git(source, "init", "-q", "-b", "main")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "start")
    return source


def state(root):
    """Names, times and content of everything in a folder, git's data and our own included."""
    files = (path for path in sorted(root.rglob("*")) if not path.is_symlink())
    return {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in (root, *files)}


def patch_of(root):
    return json.loads((root / ".rocm3d" / "patch.json").read_text())


@pytest.mark.parametrize("command", ["apply", "port"])
def test_in_place_without_git_needs_yes(rocm3d, source, command):
    before = state(source)

    ended = rocm3d(command, source, *GPU, yes=False)

    assert ended.code == 2
    assert ended.err.splitlines()[0] == f"rocm3d: {source} is not in a git repository"
    assert "--into DIR" in ended.err
    assert "--yes" in ended.err
    assert before == state(source)


@pytest.mark.parametrize("command", ["apply", "port"])
def test_in_place_in_a_folder_that_git_ignores_needs_yes(rocm3d, committed, command):
    (committed / ".gitignore").write_text("inner/\n")
    (committed / "inner").mkdir()
    shutil.copy(committed / "b.cu", committed / "inner")

    assert rocm3d(command, committed / "inner", *GPU, yes=False).code == 2


@pytest.mark.parametrize("command", ["apply", "port"])
def test_a_forged_record_of_a_copy_is_not_believed(rocm3d, source, tmp_path, command):
    rocm3d(command, source, *GPU, "--into", tmp_path / "copy")
    (source / ".rocm3d").mkdir()
    shutil.copy(tmp_path / "copy" / ".rocm3d" / "copy.json", source / ".rocm3d")

    assert rocm3d(command, source, *GPU, yes=False).code == 2


@pytest.mark.parametrize("command", ["apply", "port"])
def test_yes_edits_in_place_and_is_needed_once(rocm3d, source, command):
    first = rocm3d(command, source, *GPU, "--yes", yes=False)
    second = rocm3d(command, source, *GPU, yes=False)
    rocm3d("undo", source)

    assert (first.code, second.code) == (0, 0), second.err
    assert (source / "b.cu").read_bytes() == KERNEL
    assert rocm3d(command, source, *GPU, yes=False).code == 2


def test_a_dry_run_needs_no_yes(rocm3d, source):
    assert rocm3d("apply", source, *GPU, "--dry-run", yes=False).code == 0


def test_git_is_enough_and_uncommitted_changes_are_not(rocm3d, committed):
    assert rocm3d("port", committed, *GPU, yes=False).code == 0
    rocm3d("undo", committed)
    (committed / "a.py").write_text("import torch  # changed\n")

    assert "has uncommitted changes" in rocm3d("port", committed, *GPU, yes=False).err
    assert "has uncommitted changes" in rocm3d("port", committed, *GPU, "--yes", yes=False).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gpu", "no such gpu"), "unknown GPU"),
        ((*GPU, "--skip", "nothing_like_it"), "is not a rule"),
        ((*GPU, "--licence-policy", "refuse"), "refused by the licence policy"),
        ((*GPU, "--stack", "none"), "none"),
        ((*GPU, "--folder", "mine"), "was not made by rocm3d"),
        ((*GPU, "--patch", "/gone/port.patch"), "/gone/port.patch"),
    ],
)
def test_nothing_is_left_of_a_refused_copy(rocm3d, committed, tmp_path, words, message):
    (committed / "requirements.txt").write_text("nvdiffrast\n")
    (committed / "mine").mkdir()
    (committed / "mine" / "precious.txt").write_text("mine")
    before = state(committed)

    ended = rocm3d("port", committed, *words, "--into", tmp_path / "deep" / "copy")

    assert ended.code in (1, 2), ended.err
    assert message in ended.err
    assert before == state(committed)
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("command", ["apply", "port"])
def test_a_second_copy_into_the_same_folder_is_refused(rocm3d, source, tmp_path, command):
    rocm3d(command, source, *GPU, "--into", tmp_path / "copy")
    before = state(tmp_path)

    ended = rocm3d(command, source, *GPU, "--into", tmp_path / "copy")

    assert ended.code == 2
    assert "already exists and is not empty" in ended.err
    assert before == state(tmp_path)


def test_with_git_is_for_copies_of_a_checkout(rocm3d, committed, git, tmp_path):
    git(committed, "worktree", "add", "-q", tmp_path / "linked")
    before = state(tmp_path)

    without_copy = rocm3d("port", committed, *GPU, "--with-git")
    linked = rocm3d("port", tmp_path / "linked", *GPU, "--with-git", "--into", tmp_path / "copy")

    assert (without_copy.code, linked.code) == (2, 2)
    assert "--with-git is for a copy" in without_copy.err
    assert "is a link to the data of another checkout" in linked.err
    assert before == state(tmp_path)


@pytest.mark.parametrize("command", ["apply", "port"])
@pytest.mark.parametrize("kind", ["no git", "clean", "dirty", "untracked"])
def test_the_source_of_a_copy_stays_as_it_is(rocm3d, source, git, tmp_path, command, kind):
    if kind != "no git":
        git(source, "init", "-q", "-b", "main")
        git(source, "add", *(["a.py"] if kind == "untracked" else ["-A"]))
        git(source, "commit", "-qm", "start")
    if kind == "dirty":
        (source / "b.cu").write_bytes(KERNEL + b"// mine\n")
    before, copy = state(source), tmp_path / "copy"

    ended = rocm3d(command, source, *GPU, "--into", copy)

    assert ended.code == 0, ended.err
    assert before == state(source)
    assert not (source / ".rocm3d").exists()
    assert not (copy / ".git").exists()
    assert b"USE_ROCM" in (copy / "b.cu").read_bytes()
    assert (copy / "a.py").stat().st_mtime_ns == (source / "a.py").stat().st_mtime_ns


def test_a_ported_source_is_copied_under_its_lock_without_a_change(rocm3d, source, tmp_path):
    rocm3d("port", source, *GPU)
    before = state(source)

    ended = rocm3d("port", source, *GPU, "--into", tmp_path / "copy", "--folder", "second")

    assert ended.code == 0, ended.err
    assert before == state(source)


def test_apply_uses_the_plan_of_the_source(rocm3d, source, tmp_path):
    rocm3d("plan", source, "--gpu", "gfx1100")
    before = state(source)

    ended = rocm3d("apply", source, "--into", tmp_path / "copy")
    dry = rocm3d("apply", source, "--into", tmp_path / "other", "--dry-run")

    assert (ended.code, dry.code) == (0, 0), ended.err
    assert before == state(source)
    assert json.loads((tmp_path / "copy" / ".rocm3d" / "plan.json").read_text())["gpu"]["gfx"] == "gfx1100"
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("kind", ["alone", "in another repository"])
def test_a_copy_is_ported_again_without_yes_and_undone(rocm3d, committed, git, tmp_path, snapshot, kind):
    parent = tmp_path / "parent"
    parent.mkdir()
    if kind != "alone":
        git(parent, "init", "-q", "-b", "main")
    copy = parent / "copy"
    rocm3d("port", committed, *GPU, "--into", copy)
    once = snapshot(copy)

    again = rocm3d("port", copy, *GPU, yes=False)
    applied = rocm3d("apply", copy, *GPU, yes=False)

    assert (again.code, applied.code) == (0, 0), again.err + applied.err
    assert once == snapshot(copy)
    assert rocm3d("undo", copy).code == 0
    assert snapshot(copy) == snapshot(committed)
    assert rocm3d("port", copy, *GPU, yes=False).code == 0


def test_the_patch_of_a_copy_applies_to_the_source(rocm3d, committed, git, tmp_path, snapshot):
    rocm3d("port", committed, *GPU, "--into", tmp_path / "copy", "--patch", tmp_path / "port.patch")

    git(committed, "am", "-q", "--keep-cr", tmp_path / "port.patch")

    assert snapshot(committed) == snapshot(tmp_path / "copy")


def test_a_copy_with_git_has_its_history(rocm3d, committed, git, tmp_path):
    (committed / "a.py").write_text("import torch  # changed\n")

    ended = rocm3d("port", committed, *GPU, "--into", tmp_path / "copy", "--with-git")

    assert ended.code == 0, ended.err
    assert git(tmp_path / "copy", "log", "--format=%s").strip() == "start"
    assert {line[3:] for line in git(tmp_path / "copy", "status", "--porcelain").splitlines()} == {
        "a.py", "b.cu", "rocm-port/"
    }  # fmt: skip


def test_drafts_of_a_copy_name_the_commit_of_the_source(rocm3d, committed, git, tmp_path):
    git(committed, "remote", "add", "origin", "https://host/group/source.git")
    rocm3d("port", committed, *GPU, "--into", tmp_path / "copy")

    ended = rocm3d("upstream", tmp_path / "copy", "--no-ledger")

    assert ended.code == 0, ended.err
    (draft,) = json.loads((tmp_path / "copy" / ".rocm3d" / "upstream" / "drafts.json").read_text())["drafts"]
    assert draft["commit"] == git(committed, "rev-parse", "HEAD").strip()
    assert draft["origin"] == "https://host/group/source.git"


def test_drafts_of_a_copy_with_uncommitted_files_name_no_commit(rocm3d, committed, tmp_path):
    (committed / "b.cu").write_bytes(KERNEL + b"// mine\n")
    rocm3d("port", committed, *GPU, "--into", tmp_path / "copy")

    rocm3d("upstream", tmp_path / "copy", "--no-ledger")

    (draft,) = json.loads((tmp_path / "copy" / ".rocm3d" / "upstream" / "drafts.json").read_text())["drafts"]
    assert draft["commit"] == ""
