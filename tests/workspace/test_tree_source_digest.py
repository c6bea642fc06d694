from __future__ import annotations

import pytest

from rocm3d.workspace import tree as module
from rocm3d.workspace.tree import source_digest


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "csrc").mkdir()
    (tmp_path / "train.py").write_text("import torch\n")
    (tmp_path / "csrc" / "a.cu").write_text("void f();\n")
    return tmp_path


@pytest.mark.parametrize("name", ["out/point_cloud.ply", "log.txt", "config.yaml", "weights.pt", "__pycache__/a.py"])
def test_results_and_logs_are_no_code(tree, name):
    before = source_digest(tree)
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text("result")

    assert before == source_digest(tree)


def test_our_own_folder_is_no_code(tree):
    before = source_digest(tree)
    (tree / ".rocm3d").mkdir()
    (tree / ".rocm3d" / "a.py").write_text("x")

    assert before == source_digest(tree)


def test_too_many_files_are_not_known(tree, monkeypatch):
    monkeypatch.setattr(module, "_MAX_FILES", 1)

    assert source_digest(tree) == ""


@pytest.mark.parametrize("name", ["train.py", "csrc/a.cu", "new.py", "CMakeLists.txt", "csrc/b.CUH"])
def test_a_change_of_code_is_another_digest(tree, name):
    before = source_digest(tree)
    (tree / name).write_text("changed\n")

    assert before != source_digest(tree)


def test_a_moved_file_is_another_digest(tree):
    before = source_digest(tree)
    (tree / "train.py").rename(tree / "main.py")

    assert before != source_digest(tree)


def test_what_is_left_out_does_not_count(tree):
    before = source_digest(tree)
    (tree / "out").mkdir()
    (tree / "out" / "copy.py").write_text("import torch\n")

    assert before == source_digest(tree, {"out/copy.py"}) != source_digest(tree)
