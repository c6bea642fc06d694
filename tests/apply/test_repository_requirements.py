from __future__ import annotations

from collections.abc import Callable

import pytest

from rocm3d.apply.repository_requirements import (
    RepositoryRequirements,
    SourceRequirement,
    included_files,
    repository_requirements,
)
from rocm3d.apply.requirement_source import GitCheckout
from rocm3d.workspace.tree import Tree


@pytest.fixture
def requirements_of(tmp_path, make_plan, make_decision) -> Callable[..., RepositoryRequirements]:
    """What a repository of these files needs; every name that is not decided otherwise is kept."""

    def read(files: dict[str, str | bytes], *decisions, keep: str = "") -> RepositoryRequirements:
        for path, text in files.items():
            file = tmp_path / "repository" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "repository").mkdir(exist_ok=True)
        others = tuple(make_decision(name, "keep", package=None, route=None) for name in keep.split())
        return repository_requirements(make_plan(decisions=(*decisions, *others)), Tree.open(tmp_path / "repository"))

    return read


def test_an_empty_repository_needs_nothing(requirements_of):
    result = requirements_of({})
    assert (result.files, result.by_name, result.sources, result.not_installed) == ((), {}, {}, [])


def test_manifests_of_deeper_folders_are_ignored(requirements_of):
    result = requirements_of(
        {"eval/requirements.txt": "numpy\n", "eval/setup.sh": "pip install tqdm\n"}, keep="numpy tqdm"
    )
    assert (result.files, result.by_name) == ((), {})


def test_documentation_adds_no_names_and_no_clones(requirements_of):
    page = "```sh\npip install something git+https://host/x.git\n```\n"
    result = requirements_of({"README.md": page})
    assert (result.by_name, result.sources, result.not_installed) == ({}, {}, [])


@pytest.mark.parametrize(
    "section", ["optional-dependencies]\ndev = ['pytest']", "scripts]\n[build-system]\nrequires=['ninja']"]
)
def test_extras_and_build_tools_are_not_needed_to_run(requirements_of, section):
    result = requirements_of({"pyproject.toml": f"[project]\nname = 'x'\n[project.{section}\n"}, keep="pytest ninja")
    assert result.by_name == {}


def test_decided_packages_are_not_listed_by_name(requirements_of, make_decision):
    result = requirements_of(
        {"setup.sh": "pip install torch flash-attn tqdm\n"},
        make_decision("torch"),
        make_decision("flash-attn"),
        keep="tqdm",
    )
    assert list(result.by_name) == ["tqdm"]


def test_a_name_that_is_not_in_the_plan_is_not_installed(requirements_of):
    result = requirements_of({"setup.sh": "pip install mystery\n"})
    assert result.not_installed == ["setup.sh:1: mystery: not in the plan"]


def test_a_cuda_build_is_not_installed(requirements_of):
    result = requirements_of({"setup.sh": "pip install foo==1+cu118\n"}, keep="foo")
    assert result.by_name == {}
    assert "a CUDA build" in result.not_installed[0]


def test_binary_requirements_file_is_reported(requirements_of):
    result = requirements_of({"requirements.txt": "torch\n".encode("utf-16")})
    assert result.not_installed == ["requirements.txt is not a text file: nothing in it is installed"]


def test_conditions_and_options_stay_with_pip(requirements_of):
    result = requirements_of({"requirements.txt": "x @ git+https://host/x.git ; python_version < '3.9'\n"}, keep="x")
    assert (result.sources, result.source_lines) == ({}, set())


def test_names_come_from_every_manifest_once_in_order_of_precedence(requirements_of):
    files = {
        "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['numpy<2']\n",
        "setup.sh": "pip install numpy==1.0 tqdm pip\n",
        "Dockerfile": "FROM x\nRUN pip install einops\n",
    }
    result = requirements_of(files, keep="numpy tqdm einops")
    assert result.by_name == {
        "numpy": ("numpy<2", "pyproject.toml:3"),
        "tqdm": ("tqdm", "setup.sh:1"),
        "einops": ("einops", "Dockerfile:2"),
    }


def test_names_of_the_requirements_file_are_not_repeated(requirements_of):
    files = {
        "requirements.txt": "-r deps.txt\n-c constraints.txt\n",
        "deps.txt": "Num_Py\n",
        "constraints.txt": "tqdm<5\n",
    }
    result = requirements_of({**files, "setup.sh": "pip install num-py==1 tqdm\n"}, keep="num-py tqdm")
    assert result.files == ("requirements.txt",)
    assert list(result.by_name) == ["tqdm"]


def test_without_a_top_level_file_included_files_count(requirements_of):
    files = {"requirements/base.txt": "numpy\n", "requirements/dev.txt": "pytest\n"}
    result = requirements_of(
        {**files, "README.md": "```\npip install -r requirements/base.txt\n```\n"}, keep="numpy pytest"
    )
    assert result.files == ("requirements/base.txt",)


def test_conda_counts_only_without_other_requirements(requirements_of):
    conda = (
        "dependencies:\n  - python=3.9\n  - plyfile=1.0\n  - tqdm=4.0=py39_0\n  - libthing\n  - pip:\n    - einops\n"
    )
    files = {"environment.yml": conda, "train.py": "from plyfile import PlyData\nimport tqdm\n"}
    result = requirements_of(files, keep="plyfile tqdm libthing einops")
    assert result.by_name == {
        "plyfile": ("plyfile==1.0.*", "environment.yml:3, conda name"),
        "einops": ("einops", "environment.yml:7"),
    }
    assert result.not_installed == ["environment.yml lists tqdm, libthing for conda; the names on PyPI may differ"]
    again = requirements_of({"requirements.txt": "numpy\n"}, keep="plyfile tqdm libthing einops numpy")
    assert (list(again.by_name), again.not_installed) == (["einops"], [])


def test_a_git_dependency_becomes_a_source(requirements_of):
    files = {
        "requirements.txt": "numpy\n-e git+https://host/dep.git@v1#egg=dep\n",
        "setup.sh": "pip install git+https://host/b.git\n",
    }
    result = requirements_of(files, keep="numpy dep b")
    dep = GitCheckout("https://host/dep.git", "v1")
    assert result.sources[dep] == SourceRequirement(dep, editable=True)
    assert GitCheckout("https://host/b.git") in result.sources
    assert ("requirements.txt", 2) in result.source_lines


def test_a_clone_of_the_repository_itself_is_the_repository(requirements_of):
    files = {
        "Dockerfile": "FROM x\nRUN git clone https://host/repository.git\nRUN cd repository && pip install .\n",
        "setup.py": "",
    }
    assert list(requirements_of(files).sources) == ["."]


def test_folders_and_the_repository_itself_are_sources_with_what_they_declare(requirements_of):
    files = {
        "setup.py": "from setuptools import setup\nsetup(install_requires=['numpy'])\n",
        "requirements.txt": "-e ./libs/ops[fast]\n",
        "libs/ops/setup.py": "from setuptools import setup\nsetup(install_requires=['torch==1.0', 'einops'])\n",
    }
    result = requirements_of(files, keep="numpy einops torch ops")
    assert result.sources["libs/ops"] == SourceRequirement("libs/ops", frozenset({"fast"}), editable=True)
    assert result.sources["."].editable
    assert result.by_name["einops"] == ("einops", "libs/ops/setup.py:2")


def test_location_of_a_decided_package_is_recorded(requirements_of, make_decision):
    files = {"environment.yml": "dependencies:\n  - pip:\n    - libs/knn\n", "libs/knn/setup.py": ""}
    result = requirements_of(files, make_decision("knn", "build"))
    assert (result.package_locations, result.sources) == ({"knn": "libs/knn"}, {})


def test_a_replacement_for_what_is_only_imported_is_a_name(requirements_of, make_decision):
    result = requirements_of({}, make_decision("some", "replace", requirement="some-rocm>=1"))
    assert result.by_name == {"some": ("some-rocm>=1", "instead of some")}


def test_files_that_name_each_other_are_read_once(tmp_path):
    (tmp_path / "requirements.txt").write_text("-r a.txt\n-r gone.txt\n-r ../out.txt\n-r https://host/x.txt\n")
    (tmp_path / "a.txt").write_text("-r requirements.txt\n")
    assert list(included_files(Tree.open(tmp_path), ("requirements.txt",))) == ["requirements.txt", "a.txt"]


def test_other_categories_of_a_pipfile_are_not_needed_to_run(requirements_of):
    result = requirements_of({"Pipfile": "[dev-packages]\npytest = '*'\n[docs]\nsphinx = '*'\n"}, keep="pytest sphinx")
    assert (result.by_name, result.not_installed) == ({}, [])


def test_a_pipfile_names_what_is_needed(requirements_of, make_decision):
    text = """[packages]
numpy = ">=1.24"
tqdm = "*"
torch = {version = "==2.1.0", index = "pytorch"}
pywin32 = {version = "*", sys_platform = "== 'win32'"}
rembg = {version = "~=2.0", extras = ["cpu"]}
splat = {git = "https://host/o/splat.git", ref = "v1"}
mine = {path = "./csrc", editable = true}
mystery = "*"
"""
    result = requirements_of(
        {"Pipfile": text, "csrc/setup.py": "setup()\n"},
        make_decision("torch"),
        keep="numpy tqdm pywin32 rembg splat mine",
    )

    assert result.by_name == {
        "numpy": ("numpy>=1.24", "Pipfile:2"),
        "tqdm": ("tqdm", "Pipfile:3"),
        "pywin32": ('pywin32; sys_platform == "win32"', "Pipfile:5"),
        "rembg": ("rembg[cpu]~=2.0", "Pipfile:6"),
    }
    assert list(result.sources) == [GitCheckout("https://host/o/splat.git", "v1"), "csrc"]
    assert result.not_installed == ["Pipfile:9: mystery *: not in the plan"]


def test_a_cog_file_names_what_is_needed(requirements_of, make_decision):
    text = """build:
  gpu: true
  python_packages:
    - "numpy==1.26"
    - torch==2.1.0
  run:
    - pip install tqdm
"""
    result = requirements_of({"cog.yaml": text}, make_decision("torch"), keep="numpy tqdm")

    assert result.by_name == {"numpy": ("numpy==1.26", "cog.yaml:4"), "tqdm": ("tqdm", "cog.yaml:7")}


def test_the_requirements_file_of_a_cog_file_is_installed_from(requirements_of):
    result = requirements_of(
        {"cog.yaml": "build:\n  python_requirements: deps/requirements.txt\n", "deps/requirements.txt": "numpy\n"},
        keep="numpy",
    )

    assert result.files == ("deps/requirements.txt",)
