"""The file lists of sdist and wheel are the same before and after a port, for every package discovery setting."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

BUILD = "from {} as b; import sys; o = sys.argv[1]; b.build_sdist(o); b.build_wheel(o)"
SETUPTOOLS, HATCHLING = BUILD.format("setuptools import build_meta"), BUILD.format("hatchling import build")
FILES = {
    "demo/__init__.py": "import torch\n",
    "demo/render.py": "from flash_attn import flash_attn_func\n",
    "csrc/kernel.cu": "#include <device_launch_parameters.h>\n__global__ void k() {}\n",
    "requirements.txt": "torch==2.1.0+cu121\nflash-attn\n",
    "README.md": "A demo.\n",
}
SYSTEM = "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
PROJECT = f"{SYSTEM}[project]\nname = 'demo'\nversion = '1'\n"
SETUP = "from setuptools import setup, {0}\nsetup(name='demo', version='1', packages={0}())\n"
LAYOUTS = {
    "packages": {"setup.py": SETUP.format("find_packages")},
    "namespace packages": {"setup.py": SETUP.format("find_namespace_packages")},
    "a flat layout": {"pyproject.toml": f"{PROJECT}[tool.setuptools]\npackages = ['demo']\n"},
    "a search": {"pyproject.toml": f"{PROJECT}[tool.setuptools.packages.find]\nwhere = ['.']\n"},
    "a manifest": {"setup.py": SETUP.format("find_packages"), "MANIFEST.in": "include *.txt\ngraft csrc\n"},
    "a greedy manifest": {"setup.py": SETUP.format("find_packages"), "MANIFEST.in": "graft .\nglobal-exclude *.pyc\n"},
    "a greedy manifest and data": {
        "pyproject.toml": f"{PROJECT}[tool.setuptools]\ninclude-package-data = true\n"
        "[tool.setuptools.packages.find]\nwhere = ['.']\n",
        "MANIFEST.in": "global-include *",
    },
}

HATCH = PROJECT.replace("setuptools.build_meta", "hatchling.build").replace("setuptools", "hatchling")
HATCHED = {
    "everything": {"pyproject.toml": HATCH},
    "a wheel by its packages": {"pyproject.toml": f"{HATCH}[tool.hatch.build.targets.wheel]\npackages = ['demo']\n"},
    "what is told for both": {"pyproject.toml": f"{HATCH}[tool.hatch.build]\ninclude = ['/demo', '/csrc']\n"},
    "an sdist of its own": {"pyproject.toml": f"{HATCH}[tool.hatch.build.targets.sdist]\nonly-include = ['demo']\n"},
}


def shipped(python, root, out, build):
    """The file lists of both distributions; generated lists of the build itself left out."""
    out.mkdir(exist_ok=True)
    ended = subprocess.run([python, "-c", build, out], cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    with tarfile.open(sdist) as archive:
        source = {name for name in archive.getnames() if ".egg-info" not in name}
    return source, set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture
def ported(rocm3d, git, tmp_path):
    """A repository of these files with its port, and a clone of it from before."""

    def make(files) -> tuple[Path, Path]:
        root = tmp_path / "demo"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        git(tmp_path, "clone", "-q", root, "original")
        ended = rocm3d("apply", root, "--gpu", "mi300x", "--work", tmp_path / "work")
        assert ended.code == 0, ended.err
        assert (root / "rocm-port" / "scripts.d" / "base_state.py").is_file()
        git(root, "clean", "-qfdx", ".rocm3d")  # nothing that git does not see is there when people release
        return root, tmp_path / "original"

    return make


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_file_lists_of_sdist_and_wheel_do_not_change(ported, torch_python, tmp_path, layout):
    root, original = ported(FILES | layout)

    before = shipped(torch_python, original, tmp_path / "before", SETUPTOOLS)
    assert shipped(torch_python, root, tmp_path / "after", SETUPTOOLS) == before


@pytest.mark.parametrize("layout", HATCHED.values(), ids=HATCHED)
def test_file_lists_do_not_change_with_hatchling(ported, tmp_path, layout):
    root, original = ported(FILES | layout)

    before = shipped(sys.executable, original, tmp_path / "before", HATCHLING)
    assert shipped(sys.executable, root, tmp_path / "after", HATCHLING) == before
