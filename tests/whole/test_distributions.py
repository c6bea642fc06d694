"""What a package ships is the same before and after its port, however setuptools is told to look for it."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile

import pytest

BUILD = "from setuptools import build_meta as b; import sys; o = sys.argv[1]; b.build_sdist(o); b.build_wheel(o)"
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


def shipped(python, root, out):
    """The file lists of both distributions; generated lists of the build itself left out."""
    ended = subprocess.run([python, "-c", BUILD, out], cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    with tarfile.open(sdist) as archive:
        source = {name for name in archive.getnames() if ".egg-info" not in name}
    return source, set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_file_lists_of_sdist_and_wheel_stay(rocm3d, git, torch_python, tmp_path, layout):
    root = tmp_path / "demo"
    for name, text in (FILES | layout).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    git(tmp_path, "clone", "-q", root, "original")
    before, after = tmp_path / "before", tmp_path / "after"

    ended = rocm3d("apply", root, "--gpu", "mi300x", "--review", "--work", tmp_path / "work")

    assert ended.code == 0, ended.err
    assert (root / "rocm-port" / "scripts.d" / "base_state.py").is_file()
    git(root, "clean", "-qfdx", ".rocm3d")  # nothing that git does not see is there when people release
    assert shipped(torch_python, root, after) == shipped(torch_python, tmp_path / "original", before)
