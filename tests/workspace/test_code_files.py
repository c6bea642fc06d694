from __future__ import annotations

import pytest

from rocm3d.workspace import code_files
from rocm3d.workspace.code_files import holds_code, is_code


def put(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


@pytest.mark.parametrize("name", ["a.png", "model.safetensors", "notes.md", "LICENSE", "data.json", "cu", ".py"])
def test_other_files_are_no_code(name):
    assert not is_code(name)


@pytest.mark.parametrize("name", ["a.cu", "A.PY", "x.cuh", "CMakeLists.txt", "setup.cfg", "build.sh"])
def test_sources_and_build_files_are_code(name):
    assert is_code(name)


def test_packages_of_an_environment_are_not_own_code(tmp_path):
    put(tmp_path, "pyvenv.cfg", "lib/python3/site-packages/a.py", "bin/b.py", "src/c/setup.py")
    assert not holds_code(str(tmp_path))


def test_packages_of_conda_are_not_own_code(tmp_path):
    put(tmp_path, "conda-meta/history", "lib/a.py", "etc/b.sh")
    assert not holds_code(str(tmp_path))


def test_packages_of_npm_are_not_own_code(tmp_path):
    put(tmp_path, "package.json", "node_modules/gyp/a.py")
    assert not holds_code(str(tmp_path / "node_modules"))


def test_links_are_not_followed(tmp_path):
    put(tmp_path, "outside/a.py")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "lib").symlink_to(tmp_path / "outside")
    assert not holds_code(str(tmp_path / "venv"))


def test_own_code_in_an_environment_counts(tmp_path):
    put(tmp_path, "pyvenv.cfg", "csrc/a.cu")
    assert holds_code(str(tmp_path))


def test_code_in_a_folder_without_a_mark_counts(tmp_path):
    put(tmp_path, "node_modules/x/lib/a.py")
    assert holds_code(str(tmp_path / "node_modules"))


def test_a_folder_that_is_too_large_counts(tmp_path, monkeypatch):
    put(tmp_path, "a.txt", "b.txt", "c.txt")
    assert not holds_code(str(tmp_path))
    monkeypatch.setattr(code_files, "_MAX_ENTRIES", 2)
    assert holds_code(str(tmp_path))


def test_a_folder_that_is_gone_has_none(tmp_path):
    assert not holds_code(str(tmp_path / "gone"))
