from __future__ import annotations

import pytest

from rocm3d.apply.folders import Folders
from rocm3d.workspace.tree import Tree


@pytest.fixture
def folders(tmp_path):
    def make(*paths: str, **contents: str) -> Folders:
        for path in paths:
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(contents.get(place.name.replace(".", "_"), ""))
        return Folders(Tree.open(tmp_path))

    return make


MODULES = (
    '[submodule "a"]\n\tpath = libs/knn\n\turl = https://host/knn.git\n[submodule "b"]\n\tpath = ../out\n\turl = x\n'
)


@pytest.mark.parametrize("path", ["libs/nowhere", "/tmp/nowhere", ".", "..", "../ops", "ops"])
def test_what_is_not_here_or_not_clear_is_nowhere(folders, path):
    found = folders("a/ops/setup.py", "b/ops/setup.py", "libs/plain/code.py")
    assert found.place(path) is None


def test_a_pyproject_that_only_configures_tools_is_no_project(folders):
    assert not folders("pyproject.toml", pyproject_toml="[tool.black]\n[project]\nname = 'x'\n").is_project


@pytest.mark.parametrize("text", ["[build-system]\n[project]\n", "[build-system]\n[tool.poetry]\n"])
def test_a_project_is_installable_at_its_top(folders, text):
    assert folders("pyproject.toml", pyproject_toml=text).place(".") == "."


def test_a_folder_is_found_as_written_or_by_its_only_name(folders):
    found = folders("extensions/vox/setup.py", "libs/ops/pyproject.toml")
    assert found.place("./libs/ops/") == "libs/ops"
    assert found.place("/tmp/extensions/vox") == "extensions/vox"


def test_a_submodule_counts_before_it_is_checked_out(folders):
    found = folders(".gitmodules", _gitmodules=MODULES)
    assert [item.path for item in found.submodules] == ["libs/knn"]
    assert found.place("./libs/knn") == "libs/knn"
    assert found.place("libs/knn/inner") == "libs/knn/inner"
    assert found.place("/tmp/knn") == "libs/knn"
