from __future__ import annotations

import pytest

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.workspace.tree import Tree


@pytest.fixture
def folders(tmp_path):
    def make(*paths: str, **contents: str) -> InstallableFolders:
        for path in paths:
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents.get(file.name.replace(".", "_"), ""))
        return InstallableFolders(Tree.open(tmp_path))

    return make


MODULES = (
    '[submodule "a"]\n\tpath = libs/knn\n\turl = https://host/knn.git\n[submodule "b"]\n\tpath = ../out\n\turl = x\n'
)


@pytest.mark.parametrize("path", ["libs/nowhere", "/tmp/nowhere", ".", "..", "../ops", "ops"])
def test_missing_or_ambiguous_folder_is_none(folders, path):
    result = folders("a/ops/setup.py", "b/ops/setup.py", "libs/plain/code.py")
    assert result.resolve(path) is None


def test_a_pyproject_that_only_configures_tools_is_no_project(folders):
    assert not folders("pyproject.toml", pyproject_toml="[tool.black]\n[project]\nname = 'x'\n").is_project


@pytest.mark.parametrize("text", ["[build-system]\n[project]\n", "[build-system]\n[tool.poetry]\n"])
def test_a_project_is_installable_at_its_top(folders, text):
    assert folders("pyproject.toml", pyproject_toml=text).resolve(".") == "."


def test_a_folder_is_found_as_written_or_by_its_only_name(folders):
    result = folders("extensions/vox/setup.py", "libs/ops/pyproject.toml")
    assert result.resolve("./libs/ops/") == "libs/ops"
    assert result.resolve("/tmp/extensions/vox") == "extensions/vox"


def test_a_submodule_counts_before_it_is_checked_out(folders):
    result = folders(".gitmodules", _gitmodules=MODULES)
    assert [entry.path for entry in result.submodules] == ["libs/knn"]
    assert result.resolve("./libs/knn") == "libs/knn"
    assert result.resolve("libs/knn/inner") == "libs/knn/inner"
    assert result.resolve("/tmp/knn") == "libs/knn"
