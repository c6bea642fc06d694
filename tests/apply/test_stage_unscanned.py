from __future__ import annotations

import shlex

from rocm3d.apply.stage import unscanned_sources
from rocm3d.workspace.tree import Tree

MODULES = '[submodule "a"]\n\tpath = libs/k nn\n\turl = https://host/knn.git\n'


def test_a_submodule_with_files_was_scanned(tmp_path, make_plan):
    (tmp_path / ".gitmodules").write_text(MODULES)
    (tmp_path / "libs/k nn").mkdir(parents=True)
    (tmp_path / "libs/k nn/a.cu").write_text("int a;\n")
    assert unscanned_sources(make_plan(), Tree.open(tmp_path), "rocm-port") == ()


def test_a_dependency_with_a_patch_was_scanned(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_text("git+https://host/a/knn.git@abc\n")
    (tmp_path / "rocm-port/patches").mkdir(parents=True)
    (tmp_path / "rocm-port/patches/knn@abc.patch").write_text("")
    assert unscanned_sources(make_plan(), Tree.open(tmp_path), "rocm-port") == ()
    assert unscanned_sources(make_plan(), Tree.open(tmp_path), "amd") != ()


def test_an_empty_submodule_is_named_with_the_commands(tmp_path, make_plan):
    (tmp_path / ".gitmodules").write_text(MODULES)
    (entry,) = unscanned_sources(make_plan(), Tree.open(tmp_path), "amd")
    assert (entry.name, entry.where, entry.reason) == ("libs/k nn", ".gitmodules", "submodule not checked out")
    assert shlex.split(entry.commands[0]) == ["git", "submodule", "update", "--init", "--", "libs/k nn"]
    assert entry.commands[1].endswith("--folder amd")


def test_a_git_dependency_is_named_with_the_commands_that_make_its_patch(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_text("numpy\nknn @ git+https://host/a/knn.git@v1.2\n")
    (entry,) = unscanned_sources(make_plan(), Tree.open(tmp_path), "rocm-port")
    assert (entry.name, entry.where) == ("knn", "https://host/a/knn.git@v1.2")
    clone, checkout, apply = entry.commands
    assert shlex.split(clone)[-2:] == ["https://host/a/knn.git", "../knn-v1.2"]
    assert shlex.split(checkout)[-2:] == ["checkout", "v1.2"]
    assert "--dry-run --patch rocm-port/patches/knn@$(git -C ../knn-v1.2 rev-parse HEAD).patch" in apply
