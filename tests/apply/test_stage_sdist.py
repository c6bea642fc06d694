from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.stage import manifest_without_folder, project_without_folder, sdist_exclusions
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.workspace.tree import Tree

FINE = b"include README.md *.txt\nrecursive-include pkg *.cu\ngraft csrc\nprune docs\n# graft .\ninclude pkg/*.h\n"
GREEDY = ["graft .", "graft *", "global-include *.sh", "recursive-include . *.txt", "graft rocm*", "include */*.txt",
          "include a \\\n rocm-port/x"]  # fmt: skip


def edited_manifest(tmp_path, data, folder="rocm-port"):
    (tmp_path / "MANIFEST.in").write_bytes(data)
    return manifest_without_folder(Tree.open(tmp_path), folder)


def test_no_edit_without_a_manifest(tmp_path):
    assert manifest_without_folder(Tree.open(tmp_path), "rocm-port") is None


@pytest.mark.parametrize("data", [FINE, b"", b"graft .\0\n", b"nonsense\ngraft\n"])
def test_a_manifest_that_does_not_include_the_folder_stays(tmp_path, data):
    assert edited_manifest(tmp_path, data) is None


def test_folder_with_pattern_characters_is_not_edited(tmp_path):
    assert edited_manifest(tmp_path, b"graft .\n", "my port") is None


@pytest.mark.parametrize("line", GREEDY)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_folder_is_left_out_once(tmp_path, line, newline):
    data = line.encode().replace(b"\n", newline)
    for before in (b"include a" + newline + data + newline, b"include a" + newline + data):
        after = edited_manifest(tmp_path, before)
        block = newline.join([b"# rocm3d begin", b"prune rocm-port", b"# rocm3d end", b""])
        assert after == before.removesuffix(newline) + newline + block
        assert prove_isolation("MANIFEST.in", before, after).holds
        assert edited_manifest(tmp_path, after) is None


@pytest.mark.parametrize(
    "after", [b"graft .\nprune rocm-port\n", b"graft .\n# rocm3d begin\ninclude x\n# rocm3d end\n", b"",
              b"graft .\n# rocm3d begin\nprune a\nprune b\n# rocm3d end\n", b"graft x\n# rocm3d begin\n# rocm3d end\n"],
)  # fmt: skip
def test_anything_else_is_not_proven(after):
    assert not prove_isolation("MANIFEST.in", b"graft .\n", after).holds


@given(st.binary(max_size=80))
def test_whatever_the_file_holds_an_edit_is_proven(tmp_path_factory, data):
    after = edited_manifest(tmp_path_factory.mktemp("m"), data)
    assert after is None or prove_isolation("MANIFEST.in", data, after).holds


HATCHLING = b"[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n[project]\nname = 'x'\n"
BLOCK = b'# rocm3d begin\n[tool.hatch.build.targets.sdist]\nexclude = ["/rocm-port"]\n# rocm3d end\n'


def edited_project(tmp_path, data, folder="rocm-port"):
    (tmp_path / "pyproject.toml").write_bytes(data)
    return project_without_folder(Tree.open(tmp_path), folder)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[build-system\n",
        b"\xff",
        HATCHLING.replace(b"hatchling.build", b"setuptools.build_meta"),
        HATCHLING + b"[tool.hatch.build]\nexclude = ['docs']\n",
        HATCHLING + b"[tool.hatch.build.targets.sdist]\nexclude = ['docs']\n",
        HATCHLING + b"[tool.hatch.build.targets.sdist]\nonly-include = ['x']\n",
        b"build-system = 1\n",
    ],
)
def test_project_with_another_backend_or_settings_stays(tmp_path, data):
    assert edited_project(tmp_path, data) is None


def test_settings_in_hatch_toml_are_not_edited(tmp_path):
    (tmp_path / "hatch.toml").write_text("[build]\n")

    assert edited_project(tmp_path, HATCHLING) is None


@pytest.mark.parametrize(
    "more", [b"", b"[tool.hatch.build.targets.wheel]\npackages = ['x']\n", b"[tool.hatch.build]\ninclude = ['x']\n"]
)
def test_hatchling_leaves_the_folder_out_once(tmp_path, more):
    before = HATCHLING + more

    after = edited_project(tmp_path, before)

    assert after == before + BLOCK
    assert prove_isolation("pyproject.toml", before, after).holds
    assert edited_project(tmp_path, after) is None


@pytest.mark.parametrize(
    "after",
    [
        HATCHLING + b"[tool.hatch.build.targets.sdist]\nexclude = ['/rocm-port']\n",
        HATCHLING + BLOCK.replace(b"exclude", b"include"),
        HATCHLING + BLOCK.replace(b"sdist", b"wheel"),
        HATCHLING + BLOCK.replace(b"]\n# rocm3d end", b"]\nartifacts = ['x']\n# rocm3d end"),
        HATCHLING + BLOCK.replace(b'"/rocm-port"', b'"/rocm-port", "/x"'),
        HATCHLING.replace(b"'x'", b"'y'") + BLOCK,
        b"",
    ],
)
def test_any_other_change_of_a_project_is_not_proven(after):
    assert not prove_isolation("pyproject.toml", HATCHLING, after).holds


@pytest.mark.parametrize("more", [b"[tool.hatch.build.targets.sdist]\nexclude = ['a']\n", b"tool = 1\n", b"[x\n"])
def test_change_of_an_existing_table_is_not_proven(more):
    before = more + HATCHLING

    assert not prove_isolation("pyproject.toml", before, before + BLOCK).holds


@given(st.binary(max_size=80))
def test_whatever_the_project_holds_an_edit_is_proven(tmp_path_factory, data):
    before = HATCHLING + data
    after = edited_project(tmp_path_factory.mktemp("p"), before)
    assert after is None or prove_isolation("pyproject.toml", before, after).holds


def test_exclusions_of_both_files(tmp_path):
    (tmp_path / "MANIFEST.in").write_bytes(b"graft .\n")
    (tmp_path / "pyproject.toml").write_bytes(HATCHLING)

    assert ["MANIFEST.in", "pyproject.toml"] == [path for path, _ in sdist_exclusions(Tree.open(tmp_path), "rocm-port")]
