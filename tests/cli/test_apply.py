from __future__ import annotations

import subprocess


def git(root, *arguments):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", "-C", root, *identity, *arguments], capture_output=True, text=True, check=True).stdout


def test_a_dirty_tree_is_refused_naming_both_ways_out(rocm3d, example, snapshot):
    root = example("deform-op")
    git(root, "init", "-q")
    before = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    assert ended.code == 2
    assert "--into" in ended.err
    assert "--allow-dirty" in ended.err
    assert before == snapshot(root)


def test_a_folder_that_is_not_ours_is_refused_naming_the_option(rocm3d, example):
    root = example("deform-op")
    (root / "rocm-port").mkdir()
    (root / "rocm-port" / "precious.txt").write_text("mine")

    refused = rocm3d("apply", root, "--gpu", "mi300x")
    elsewhere = rocm3d("apply", root, "--gpu", "mi300x", "--folder", "rocm-port-2")

    assert refused.code == 2
    assert "--folder" in refused.err
    assert elsewhere.code == 0, elsewhere.err
    assert (root / "rocm-port-2" / "port.json").is_file()
    assert [path.name for path in (root / "rocm-port").iterdir()] == ["precious.txt"]


def test_a_copy_over_something_is_refused(rocm3d, example, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")

    ended = rocm3d("apply", example("deform-op"), "--gpu", "mi300x", "--into", tmp_path / "full")

    assert ended.code == 2
    assert "not empty" in ended.err


def test_a_dry_run_prints_a_patch_that_git_takes_and_writes_nothing(rocm3d, example, snapshot, tmp_path):
    root = example("splat-trainer")
    before = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--output", tmp_path / "port.patch")

    assert ended.code == 0
    assert before == snapshot(root)
    git(root, "init", "-q")
    git(root, "apply", "--check", tmp_path / "port.patch")


def test_a_clean_git_tree_is_edited_in_place_and_the_patch_equals_the_dry_run(rocm3d, example, tmp_path):
    root = example("splat-trainer")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    rocm3d("apply", root, "--gpu", "mi300x", "--dry-run", "--output", tmp_path / "port.patch")
    git(root, "clone", "-q", root, tmp_path / "other")
    git(tmp_path / "other", "apply", tmp_path / "port.patch")

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    assert ended.code == 0, ended.err
    changed = git(root, "status", "--porcelain").split()
    assert {"setup.py", "csrc/forward.cu", "rocm-port/"} == {name for name in changed if len(name) > 2}
    for name in ("setup.py", "csrc/forward.cu", "rocm-port/requirements.txt", "rocm-port/environment.sh"):
        assert (tmp_path / "other" / name).read_bytes() == (root / name).read_bytes(), name


def test_into_a_copy_leaves_the_original_alone(rocm3d, example, snapshot, tmp_path):
    root = example("splat-trainer")
    before = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--into", tmp_path / "copy")

    assert ended.code == 0, ended.err
    assert before == snapshot(root)
    assert (tmp_path / "copy" / "rocm-port" / "port.json").is_file()


def test_a_second_apply_changes_nothing_even_in_git(rocm3d, example, snapshot):
    root = example("splat-trainer")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    rocm3d("apply", root, "--gpu", "mi300x")
    once = snapshot(root)

    ended = rocm3d("apply", root, "--gpu", "mi300x")

    assert ended.code == 0, ended.err
    assert once == snapshot(root)


def test_work_that_a_person_committed_after_a_port_is_kept_by_a_second_one(rocm3d, example):
    root = example("splat-trainer")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    rocm3d("apply", root, "--gpu", "mi300x")
    kernel = root / "csrc" / "forward.cu"
    kernel.write_text(kernel.read_text() + "// by hand\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "port and more")

    ended = rocm3d("port", root, "--gpu", "mi300x")

    assert ended.code == 0, ended.err
    assert kernel.read_text().endswith("// by hand\n")


def test_the_requirements_of_the_port_name_no_cuda(rocm3d, example):
    root = example("splat-trainer")

    rocm3d("apply", root, "--gpu", "mi300x")

    lines = (root / "rocm-port" / "requirements.txt").read_text().splitlines()
    active = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert not [line for line in active if "+cu" in line or "/cu1" in line or "-cu1" in line]
    original = (root / "requirements.txt").read_text().splitlines()
    for name in ("numpy", "tqdm", "plyfile", "torchmetrics"):
        assert [line for line in original if line.startswith(name)] == [
            line for line in active if line.startswith(name)
        ]
