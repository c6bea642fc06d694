"""Unusual and hostile repositories: each gives a clear result, none a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


def findings(ended):
    return json.loads(ended.out)["findings"]


def skipped(ended):
    return {item["path"]: item["reason"] for item in json.loads(ended.out)["inventory"]["skipped"]}


def test_a_path_that_does_not_exist_exits_2_with_one_clear_line(rocm3d, tmp_path):
    ended = rocm3d("scan", tmp_path / "nowhere")

    assert ended.code == 2
    assert ended.err.splitlines()[0] == f"rocm3d: {tmp_path / 'nowhere'} does not exist"
    assert "Traceback" not in ended.err


def test_a_file_in_place_of_a_folder_exits_2(rocm3d, tmp_path):
    (tmp_path / "file").write_text("x")

    ended = rocm3d("scan", tmp_path / "file")

    assert ended.code == 2
    assert "is not a folder" in ended.err


def test_a_repository_of_empty_files_is_ready_and_can_be_ported(rocm3d, tmp_path):
    for name in ("a.py", "a.cu", "setup.py", "requirements.txt"):
        (tmp_path / name).write_text("")

    scanned = rocm3d("scan", tmp_path, "--format", "json")
    ported = rocm3d("port", tmp_path, "--gpu", "gfx942")

    assert (scanned.code, findings(scanned)) == (0, [])
    assert json.loads(scanned.out)["inventory"]["readiness"] == "ready"
    assert ported.code == 0, ported.err


def test_a_path_with_spaces_is_a_path(rocm3d, example):
    root = example("deform-op")
    spaced = root.rename(root.parent / "a repository with spaces")

    ended = rocm3d("port", spaced, "--gpu", "mi300x", "--until", "planned")

    assert ended.code == 0, ended.err
    assert (spaced / "rocm-port" / "environment.sh").is_file()


def test_odd_files_are_named_and_survived(rocm3d, tmp_path):
    (tmp_path / "latin.cu").write_bytes(b"// caf\xe9\n#include <device_launch_parameters.h>\n")
    (tmp_path / "nul.cu").write_bytes(b"\0\0__global__\0")
    with (tmp_path / "huge.cu").open("wb") as stream:
        stream.write(b"// start\n")
        stream.truncate(50 * 1024 * 1024)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "pyproject.toml").write_text("[project\nname = ")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe==nonsense\n")

    ended = rocm3d("scan", tmp_path, "--format", "json")

    assert ended.code == 1
    assert [("latin.cu", 2)] == [(item["path"], item["line"]) for item in findings(ended)]
    reasons = skipped(ended)
    assert "not UTF-8" in reasons["latin.cu"]
    assert "NUL" in reasons["nul.cu"]
    assert "52.4 MB" in reasons["huge.cu"]
    assert "symlink" in reasons["loop"]
    assert "outside the repository" in reasons["out"]
    assert "not a regular file" in reasons["pipe.cu"]
    assert "TOML" in reasons["pyproject.toml"]
    assert any(path.startswith("requirements.txt") for path in reasons)


def test_a_broken_rocm3d_toml_exits_2_naming_file_and_place(rocm3d, tmp_path):
    (tmp_path / "rocm3d.toml").write_text("gpu = \n")

    ended = rocm3d("scan", tmp_path)

    assert ended.code == 2
    assert ended.err.startswith("rocm3d: rocm3d.toml: ")
    assert "line 1" in ended.err


def test_an_unknown_setting_exits_2_naming_the_key(rocm3d, tmp_path):
    (tmp_path / "rocm3d.toml").write_text('gpus = "mi300x"\n')

    ended = rocm3d("scan", tmp_path)

    assert ended.code == 2
    assert "gpus" in ended.err.splitlines()[0]


@pytest.fixture
def unprivileged_rocm3d():
    """Runs the command as somebody whom file modes bind; root is told to do without its privilege."""
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []

    def run(*arguments):
        command = [*drop, sys.executable, "-c", "from rocm3d.cli.main import main; main()", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_an_unreadable_file_is_named_and_the_rest_is_scanned(unprivileged_rocm3d, example):
    root = example("deform-op")
    (root / "src" / "sample_kernel.cu").chmod(0)

    ended = unprivileged_rocm3d("scan", root, "--format", "json")

    assert ended.returncode == 1, ended.stderr
    document = json.loads(ended.stdout)
    assert {"path": "src/sample_kernel.cu", "reason": "cannot be read: Permission denied"} in document["inventory"][
        "skipped"
    ]
    assert "setup.py" in {item["path"] for item in document["findings"]}
    assert "src/sample_kernel.cu" not in {item["path"] for item in document["findings"]}


def test_a_read_only_target_is_scanned_and_its_documents_go_to_the_cache(unprivileged_rocm3d, example):
    root = example("deform-op")
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)

    ended = unprivileged_rocm3d("scan", root)

    assert ended.returncode == 1
    assert "is read-only; documents are written to" in ended.stderr
    assert not (root / ".rocm3d").exists()


def test_a_read_only_target_cannot_be_ported_in_place_and_stays_as_it_is(unprivileged_rocm3d, example, snapshot):
    root = example("deform-op")
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = snapshot(root)

    ended = unprivileged_rocm3d("port", root, "--gpu", "mi300x", "--yes")

    assert ended.returncode == 2, ended.stderr
    assert "--into" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert before == snapshot(root)


def test_a_target_with_one_read_only_folder_is_left_as_it_was(unprivileged_rocm3d, example, snapshot):
    root = example("deform-op")
    before = snapshot(root)
    (root / "src").chmod(0o555)

    ended = unprivileged_rocm3d("port", root, "--gpu", "mi300x", "--yes", "--no-compile")

    assert ended.returncode == 2, ended.stderr
    assert "sample_kernel.cu" in ended.stderr
    assert before == snapshot(root)
