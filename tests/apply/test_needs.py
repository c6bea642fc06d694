from __future__ import annotations

from collections.abc import Callable

import pytest

from rocm3d.apply.needs import Needs, Source, closure, needs
from rocm3d.apply.origin import Checkout
from rocm3d.workspace.tree import Tree


@pytest.fixture
def wanted(tmp_path, make_plan, make_decision) -> Callable[..., Needs]:
    """What a repository of these files needs; every name that is not decided otherwise is kept."""

    def read(files: dict[str, str | bytes], *decisions, kept: str = "") -> Needs:
        for path, text in files.items():
            place = tmp_path / "repository" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "repository").mkdir(exist_ok=True)
        others = tuple(make_decision(name, "keep", package=None, route=None) for name in kept.split())
        return needs(make_plan(decisions=(*decisions, *others)), Tree.open(tmp_path / "repository"))

    return read


def test_an_empty_repository_needs_nothing(wanted):
    found = wanted({})
    assert (found.files, found.names, found.sources, found.left) == ((), {}, {}, [])


def test_what_a_deeper_folder_asks_for_is_not_the_repositorys(wanted):
    found = wanted({"eval/requirements.txt": "numpy\n", "eval/setup.sh": "pip install tqdm\n"}, kept="numpy tqdm")
    assert (found.files, found.names) == ((), {})


def test_a_page_adds_no_names_and_no_clones(wanted):
    page = "```sh\npip install something git+https://host/x.git\n```\n"
    found = wanted({"README.md": page})
    assert (found.names, found.sources, found.left) == ({}, {}, [])


@pytest.mark.parametrize(
    "section", ["optional-dependencies]\ndev = ['pytest']", "scripts]\n[build-system]\nrequires=['ninja']"]
)
def test_extras_and_build_tools_are_not_needed_to_run(wanted, section):
    found = wanted({"pyproject.toml": f"[project]\nname = 'x'\n[project.{section}\n"}, kept="pytest ninja")
    assert found.names == {}


def test_decided_packages_are_no_names(wanted, make_decision):
    found = wanted(
        {"setup.sh": "pip install torch flash-attn tqdm\n"},
        make_decision("torch"),
        make_decision("flash-attn"),
        kept="tqdm",
    )
    assert list(found.names) == ["tqdm"]


def test_a_name_that_the_plan_does_not_know_is_left(wanted):
    found = wanted({"setup.sh": "pip install mystery\n"})
    assert found.left == ["setup.sh:1: mystery: not in the plan"]


def test_a_cuda_build_is_left(wanted):
    found = wanted({"setup.sh": "pip install foo==1+cu118\n"}, kept="foo")
    assert found.names == {}
    assert "a CUDA build" in found.left[0]


def test_a_requirements_file_that_is_no_text_is_told(wanted):
    found = wanted({"requirements.txt": "torch\n".encode("utf-16")})
    assert found.left == ["requirements.txt is not a text file: nothing in it is installed"]


def test_conditions_and_options_stay_with_pip(wanted):
    found = wanted({"requirements.txt": "x @ git+https://host/x.git ; python_version < '3.9'\n"}, kept="x")
    assert (found.sources, found.taken) == ({}, set())


def test_names_are_taken_from_every_manifest_once_and_the_metadata_is_believed_first(wanted):
    files = {
        "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['numpy<2']\n",
        "setup.sh": "pip install numpy==1.0 tqdm pip\n",
        "Dockerfile": "FROM x\nRUN pip install einops\n",
    }
    found = wanted(files, kept="numpy tqdm einops")
    assert found.names == {
        "numpy": ("numpy<2", "pyproject.toml:3"),
        "tqdm": ("tqdm", "setup.sh:1"),
        "einops": ("einops", "Dockerfile:2"),
    }


def test_what_the_requirements_file_names_is_not_named_again(wanted):
    files = {
        "requirements.txt": "-r deps.txt\n-c constraints.txt\n",
        "deps.txt": "Num_Py\n",
        "constraints.txt": "tqdm<5\n",
    }
    found = wanted({**files, "setup.sh": "pip install num-py==1 tqdm\n"}, kept="num-py tqdm")
    assert found.files == ("requirements.txt",)
    assert list(found.names) == ["tqdm"]


def test_without_a_file_at_the_top_those_that_are_installed_from_count(wanted):
    files = {"requirements/base.txt": "numpy\n", "requirements/dev.txt": "pytest\n"}
    found = wanted({**files, "README.md": "```\npip install -r requirements/base.txt\n```\n"}, kept="numpy pytest")
    assert found.files == ("requirements/base.txt",)


def test_conda_counts_only_where_nothing_else_tells(wanted):
    conda = (
        "dependencies:\n  - python=3.9\n  - plyfile=1.0\n  - tqdm=4.0=py39_0\n  - libthing\n  - pip:\n    - einops\n"
    )
    files = {"environment.yml": conda, "train.py": "from plyfile import PlyData\nimport tqdm\n"}
    found = wanted(files, kept="plyfile tqdm libthing einops")
    assert found.names == {
        "plyfile": ("plyfile==1.0.*", "environment.yml:3, conda name"),
        "einops": ("einops", "environment.yml:7"),
    }
    assert found.left == ["environment.yml lists tqdm, libthing for conda; the names on PyPI may differ"]
    again = wanted({"requirements.txt": "numpy\n"}, kept="plyfile tqdm libthing einops numpy")
    assert (list(again.names), again.left) == (["einops"], [])


def test_a_git_dependency_is_a_source_and_its_line_is_taken(wanted):
    files = {
        "requirements.txt": "numpy\n-e git+https://host/dep.git@v1#egg=dep\n",
        "setup.sh": "pip install git+https://host/b.git\n",
    }
    found = wanted(files, kept="numpy dep b")
    dep = Checkout("https://host/dep.git", "v1")
    assert found.sources[dep] == Source(dep, editable=True)
    assert Checkout("https://host/b.git") in found.sources
    assert ("requirements.txt", 2) in found.taken


def test_a_clone_of_the_repository_itself_is_the_repository(wanted):
    files = {
        "Dockerfile": "FROM x\nRUN git clone https://host/repository.git\nRUN cd repository && pip install .\n",
        "setup.py": "",
    }
    assert list(wanted(files).sources) == ["."]


def test_folders_and_the_repository_itself_are_sources_with_what_they_declare(wanted):
    files = {
        "setup.py": "from setuptools import setup\nsetup(install_requires=['numpy'])\n",
        "requirements.txt": "-e ./libs/ops[fast]\n",
        "libs/ops/setup.py": "from setuptools import setup\nsetup(install_requires=['torch==1.0', 'einops'])\n",
    }
    found = wanted(files, kept="numpy einops torch ops")
    assert found.sources["libs/ops"] == Source("libs/ops", frozenset({"fast"}), editable=True)
    assert found.sources["."].editable
    assert found.names["einops"] == ("einops", "libs/ops/setup.py:2")


def test_where_a_decided_package_lies_is_remembered(wanted, make_decision):
    files = {"environment.yml": "dependencies:\n  - pip:\n    - libs/knn\n", "libs/knn/setup.py": ""}
    found = wanted(files, make_decision("knn", "build"))
    assert (found.paths, found.sources) == ({"knn": "libs/knn"}, {})


def test_a_replacement_for_what_is_only_imported_is_a_name(wanted, make_decision):
    found = wanted({}, make_decision("some", "replace", requirement="some-rocm>=1"))
    assert found.names == {"some": ("some-rocm>=1", "instead of some")}


def test_files_that_name_each_other_are_read_once(tmp_path):
    (tmp_path / "requirements.txt").write_text("-r a.txt\n-r gone.txt\n-r ../out.txt\n-r https://host/x.txt\n")
    (tmp_path / "a.txt").write_text("-r requirements.txt\n")
    assert list(closure(Tree.open(tmp_path), ("requirements.txt",))) == ["requirements.txt", "a.txt"]


def test_categories_of_a_pipfile_beside_the_main_one_are_not_needed_to_run(wanted):
    found = wanted({"Pipfile": "[dev-packages]\npytest = '*'\n[docs]\nsphinx = '*'\n"}, kept="pytest sphinx")
    assert (found.names, found.left) == ({}, [])


def test_a_pipfile_names_what_is_needed(wanted, make_decision):
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
    found = wanted(
        {"Pipfile": text, "csrc/setup.py": "setup()\n"},
        make_decision("torch"),
        kept="numpy tqdm pywin32 rembg splat mine",
    )

    assert found.names == {
        "numpy": ("numpy>=1.24", "Pipfile:2"),
        "tqdm": ("tqdm", "Pipfile:3"),
        "pywin32": ('pywin32; sys_platform == "win32"', "Pipfile:5"),
        "rembg": ("rembg[cpu]~=2.0", "Pipfile:6"),
    }
    assert list(found.sources) == [Checkout("https://host/o/splat.git", "v1"), "csrc"]
    assert found.left == ["Pipfile:9: mystery *: not in the plan"]


def test_a_cog_file_names_what_is_needed(wanted, make_decision):
    text = """build:
  gpu: true
  python_packages:
    - "numpy==1.26"
    - torch==2.1.0
  run:
    - pip install tqdm
"""
    found = wanted({"cog.yaml": text}, make_decision("torch"), kept="numpy tqdm")

    assert found.names == {"numpy": ("numpy==1.26", "cog.yaml:4"), "tqdm": ("tqdm", "cog.yaml:7")}


def test_the_requirements_file_of_a_cog_file_is_installed_from(wanted):
    found = wanted(
        {"cog.yaml": "build:\n  python_requirements: deps/requirements.txt\n", "deps/requirements.txt": "numpy\n"},
        kept="numpy",
    )

    assert found.files == ("deps/requirements.txt",)
