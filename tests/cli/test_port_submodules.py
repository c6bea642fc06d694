"""`port --submodules`: submodules are fetched at their recorded commits, scanned, and edited in a copy."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys

import pytest
from processes import Program

KERNEL = b"#include <device_launch_parameters.h>\n__global__ void k() {}\n"
PORT = ("port", "--gpu", "mi300x")


@pytest.fixture
def served(tmp_path, git):
    """A repository with a submodule that has one itself, by a relative URL; both are only on the server."""

    def commit(root, files):
        root.mkdir(parents=True)
        git(root, "init", "-q", "-b", "main")
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        return root

    server = tmp_path / "server"
    commit(server / "glm", {"glm/vec.h": KERNEL})
    knn = commit(server / "knn", {"knn.cu": KERNEL, "setup.py": b"from setuptools import setup\nsetup(name='knn')\n"})
    git(knn, "submodule", "--quiet", "add", "../glm", "third_party/glm")
    git(knn, "commit", "-qm", "glm")
    main = commit(server / "main", {"a.py": b"import torch\n", "b.cu": KERNEL})
    git(main, "submodule", "--quiet", "add", "../knn", "libs/knn")
    git(main, "commit", "-qm", "knn")
    return server


@pytest.fixture
def source(served, git, tmp_path):
    """A clone without its submodules."""
    git(tmp_path, "clone", "-q", f"file://{served}/main", "source")
    return tmp_path / "source"


@pytest.fixture
def user(tmp_path):
    """The environment of a user who allows files as a transport."""
    (tmp_path / "gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    return {"GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}


def unscanned(root):
    return [
        item["name"] for item in json.loads((root / ".rocm3d/inventory.json").read_text())["inventory"]["unscanned"]
    ]


def patch_of(root):
    return json.loads((root / ".rocm3d" / "patch.json").read_text())


def state(root):
    """Names, times and content of everything in a folder, git's data included."""
    files = (path for path in sorted(root.rglob("*")) if not path.is_symlink())
    return {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in (root, *files)}


def test_offline_and_submodules_exclude_each_other(rocm3d, source, tmp_path):
    before = state(source)
    ended = rocm3d(*PORT[:1], source, *PORT[1:], "--submodules", "--offline", "--into", tmp_path / "copy")

    assert ended.code == 2
    assert "--submodules needs the network" in ended.err
    assert before == state(source)
    assert not (tmp_path / "copy").exists()


def test_without_the_option_nothing_is_fetched_and_the_command_is_named(rocm3d, source, user, tmp_path):
    copied = rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", env=user)
    in_place = rocm3d("port", source, "--gpu", "mi300x", env=user)

    assert unscanned(tmp_path / "copy") == unscanned(source) == ["libs/knn"]
    assert "not scanned: 1 submodule that is not checked out (libs/knn). Run: git submodule update" in in_place.err
    assert "Run: rocm3d port . --gpu mi300x --submodules" in copied.err


def test_a_fetch_that_fails_is_one_line_and_the_port_goes_on(rocm3d, source, tmp_path):
    """Without the user's permission, files are no transport."""
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    ended = rocm3d(
        "port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", "--submodules", "-q", env=environment
    )

    assert ended.err.splitlines() == ["submodule libs/knn was not fetched: transport 'file' not allowed"]
    assert unscanned(tmp_path / "copy") == ["libs/knn"]
    assert (tmp_path / "copy" / "rocm-port" / "port.json").is_file()
    assert sorted(path.name for path in (tmp_path / "copy" / ".rocm3d").glob("fetch-*")) == []


def test_submodules_of_a_folder_without_git_are_not_fetched(rocm3d, source, user, tmp_path):
    (source / ".git").rename(tmp_path / "git-data")
    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", "--submodules", env=user)

    assert f"submodule libs/knn was not fetched: {source} has no data of git" in ended.err
    assert unscanned(tmp_path / "copy") == ["libs/knn"]


def test_submodules_are_fetched_into_the_copy_scanned_and_edited(rocm3d, source, served, user, tmp_path, git):
    (source / "a.py").write_text("import torch  # not committed\n")
    before = state(source)

    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", "--submodules", env=user)

    copy = tmp_path / "copy"
    commits = {name: git(served / name, "rev-parse", "HEAD").strip() for name in ("knn", "glm")}
    assert ended.code == 0, ended.err
    assert before == state(source)
    assert unscanned(copy) == []
    assert list(copy.rglob(".git")) == []
    # Each submodule has its patch for the original, and is edited in the copy.
    assert {(item["path"], item["commit"]) for item in patch_of(copy)["modules"]} == {
        ("libs/knn", commits["knn"]),
        ("libs/knn/third_party/glm", commits["glm"]),
    }
    for path in ("libs/knn/knn.cu", "libs/knn/third_party/glm/glm/vec.h", "b.cu"):
        assert b"USE_ROCM" in (copy / path).read_bytes()
    git(served / "knn", "apply", copy / "rocm-port" / "patches" / f"knn@{commits['knn']}.patch")
    assert (served / "knn" / "knn.cu").read_bytes() == (copy / "libs/knn/knn.cu").read_bytes()
    # The change for the repository itself has nothing of the submodules.
    assert b"knn.cu" not in (copy / ".rocm3d" / "port.patch").read_bytes().partition(b"rocm-port/patches")[0]
    verdicts = json.loads((copy / ".rocm3d" / "verdicts.json").read_text())["verdicts"]
    proof = next(item for item in verdicts if item["probe"] == "prove_isolation")
    assert proof["outcome"] == "passed"
    assert {"libs/knn/knn.cu", "b.cu"} <= set(proof["looked_at"])


def test_a_second_port_of_the_copy_changes_nothing_and_undo_restores_it(rocm3d, source, user, tmp_path, snapshot):
    copy = tmp_path / "copy"
    arguments = ("--gpu", "mi300x", "--submodules")
    first = rocm3d("port", source, *arguments, "--into", copy, env=user)
    once = snapshot(copy)

    second = rocm3d("port", copy, *arguments, env=user, yes=False)
    twice = snapshot(copy)
    rocm3d("undo", copy)

    assert (first.code, second.code) == (0, 0), second.err
    assert once == twice
    assert (copy / "libs/knn/knn.cu").read_bytes() == (copy / "b.cu").read_bytes() == KERNEL


def test_the_copy_can_fetch_them_later(rocm3d, source, user, tmp_path):
    copy = tmp_path / "copy"
    rocm3d("port", source, "--gpu", "mi300x", "--into", copy, env=user)

    ended = rocm3d("port", copy, "--gpu", "mi300x", "--submodules", env=user, yes=False)

    assert ended.code == 0, ended.err
    assert unscanned(copy) == []
    assert len(patch_of(copy)["modules"]) == 2


def test_checked_out_submodules_get_their_patch_in_a_copy_without_git(rocm3d, source, user, tmp_path, git):
    git(source, "submodule", "--quiet", "update", "--init", "--recursive")
    commit = git(source / "libs/knn", "rev-parse", "HEAD").strip()
    (source / "libs/knn/setup.py").write_text("from setuptools import setup\nsetup(name='changed')\n")
    before = state(source)

    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", env=user)

    assert ended.code == 0, ended.err
    assert before == state(source)
    assert {item["path"]: item["commit"] for item in patch_of(tmp_path / "copy")["modules"]}["libs/knn"] == commit
    assert b"USE_ROCM" in (tmp_path / "copy" / "libs/knn/knn.cu").read_bytes()


def test_a_file_that_differs_from_the_commit_is_not_edited(rocm3d, source, user, tmp_path, git):
    """Its patch would not apply to the commit."""
    git(source, "submodule", "--quiet", "update", "--init", "--recursive")
    (source / "libs/knn/knn.cu").write_bytes(KERNEL + b"// mine\n")

    rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", env=user)

    (refused,) = [item for item in patch_of(tmp_path / "copy")["refused"] if item["path"] == "libs/knn/knn.cu"]
    assert "differs from commit" in refused["reason"]
    assert (tmp_path / "copy" / "libs/knn/knn.cu").read_bytes() == KERNEL + b"// mine\n"


def test_nothing_is_edited_in_submodules_whose_commit_git_does_not_report(rocm3d, source, user, tmp_path, git):
    git(source, "submodule", "--quiet", "update", "--init", "--recursive")
    os.mkfifo(source / ".git" / "info" / "grafts")  # git would wait for it

    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", env=user)

    assert ended.code == 1, ended.err
    assert (tmp_path / "copy" / "libs/knn/knn.cu").read_bytes() == KERNEL
    assert b"USE_ROCM" in (tmp_path / "copy" / "b.cu").read_bytes()
    reasons = {item["path"]: item["reason"] for item in patch_of(tmp_path / "copy")["refused"]}
    assert "git does not report the commit" in reasons["libs/knn/knn.cu"]


def test_in_place_they_are_checked_out_and_stay_clean(rocm3d, source, user, git):
    ended = rocm3d("port", source, "--gpu", "mi300x", "--submodules", env=user)

    assert ended.code == 0, ended.err
    assert unscanned(source) == []
    git(source, "submodule", "init")
    assert [line[0] for line in git(source, "submodule", "status").splitlines()] == [" "]
    assert (source / "libs/knn/third_party/glm/.git").is_dir()
    assert (source / "libs/knn/knn.cu").read_bytes() == KERNEL
    assert git(source / "libs/knn", "status", "--porcelain") == ""
    assert {line[3:] for line in git(source, "status", "--porcelain").splitlines()} == {"b.cu", "rocm-port/"}


def test_a_copy_with_git_has_checkouts(rocm3d, source, user, tmp_path, git):
    copy = tmp_path / "copy"
    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", copy, "--with-git", "--submodules", env=user)

    assert ended.code == 0, ended.err
    assert git(copy, "rev-parse", "HEAD") == git(source, "rev-parse", "HEAD")
    assert (copy / "libs/knn/.git").is_dir()
    assert b"USE_ROCM" in (copy / "libs/knn/knn.cu").read_bytes()
    assert rocm3d("port", copy, "--gpu", "mi300x", env=user, yes=False).code == 0


@pytest.mark.parametrize(("answer", "expected"), [("y", []), ("n", ["libs/knn"]), ("", ["libs/knn"])])
def test_on_a_terminal_a_fetch_into_a_copy_is_confirmed(source, user, tmp_path, answer, expected):
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "rocm3d", "port", source, "--gpu", "mi300x", "--into", tmp_path / "copy"]
    environment = {**os.environ, **user}
    with Program(command, stdin=inner, stdout=subprocess.DEVNULL, stderr=inner, env=environment):
        os.close(inner)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(outer, 1000)
        os.write(outer, f"{answer}\n".encode())
        with contextlib.suppress(OSError):  # the end of a terminal
            while os.read(outer, 1000):
                pass
    os.close(outer)

    assert b"1 submodule is not checked out: libs/knn" in shown
    assert unscanned(tmp_path / "copy") == expected


@pytest.fixture
def requiring(served, source, git):
    """The clone requires the repository knn, at a commit or at what the test names."""

    def require(revision=None):
        commit = git(served / "knn", "rev-parse", "HEAD").strip()
        (source / "requirements.txt").write_text(f"knn @ git+file://{served}/knn@{revision or commit}\n")
        (source / ".gitmodules").unlink(missing_ok=True)
        git(source, "rm", "-q", "--cached", "libs/knn")
        git(source, "add", "-A")
        git(source, "commit", "-qm", "requirement")
        return commit

    return require


def test_a_git_dependency_without_a_commit_is_not_fetched(rocm3d, requiring, source, user, tmp_path):
    requiring("main")
    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", "--submodules", env=user)

    assert ended.code == 1, ended.err
    assert unscanned(tmp_path / "copy") == ["knn"]
    assert "not scanned: 1 git dependency (knn)" in ended.err


def test_a_git_dependency_that_cannot_be_fetched_is_one_line(rocm3d, requiring, source, tmp_path):
    commit = requiring()
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    ended = rocm3d(
        "port", source, "--gpu", "mi300x", "--into", tmp_path / "copy", "--submodules", "-q", env=environment
    )

    assert ended.err.splitlines() == [f"git dependency knn@{commit[:12]} was not fetched: transport 'file' not allowed"]
    assert unscanned(tmp_path / "copy") == ["knn"]


def test_a_git_dependency_is_fetched_at_its_commit_scanned_and_gets_its_patch(
    rocm3d, requiring, source, served, user, tmp_path, git, snapshot
):
    commit = requiring()
    copy = tmp_path / "copy"
    ended = rocm3d("port", source, "--gpu", "mi300x", "--into", copy, "--submodules", env=user)

    assert ended.code == 0, ended.err
    assert unscanned(copy) == []
    document = patch_of(copy)
    (dependency,) = document["dependencies"]
    assert (dependency["path"], dependency["commit"]) == (f"knn@{commit[:12]}", commit)
    assert {item["path"] for item in dependency["changes"]} == {"knn.cu", "third_party/glm/glm/vec.h"}
    patch = copy / "rocm-port" / "patches" / f"knn@{commit}.patch"
    assert dependency["file"] == f"rocm-port/patches/{patch.name}"
    git(served / "knn", "apply", "--include=knn.cu", patch)
    assert b"USE_ROCM" in (served / "knn" / "knn.cu").read_bytes()
    # Later commands know it without the network, and undo removes the patch.
    once = snapshot(copy)
    again = rocm3d("port", copy, "--gpu", "mi300x", "--offline", yes=False)
    assert (again.code, snapshot(copy)) == (0, once), again.err
    assert unscanned(copy) == []
    rocm3d("undo", copy)
    assert not patch.exists()


def test_a_list_of_dependencies_that_came_with_the_repository_is_not_believed(rocm3d, requiring, source, user):
    commit = requiring()
    folder = source / ".rocm3d" / "dependencies" / f"knn@{commit[:12]}"
    folder.mkdir(parents=True)
    (source / ".rocm3d" / "dependencies.json").write_text(
        json.dumps({"dependencies": [{"name": "knn", "url": "u", "commit": commit}]})
    )

    rocm3d("scan", source)

    assert unscanned(source) == ["knn"]
