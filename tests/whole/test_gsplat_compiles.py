"""gsplat 1.5.3 from PyPI, unported: which sources compile for AMD targets, and which errors the others have.

`UPDATE=1 pytest -m full tests/whole/test_gsplat_compiles.py` updates the snapshot.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rocm3d.repository import Repository
from rocm3d.verify.compilation.session import CompileRequest, compile_repository
from rocm3d.workspace.tree import Tree

REAL = "gsplat==1.5.3"
SNAPSHOT = Path(__file__).with_name("gsplat-1.5.3.json")
TARGETS = ("gfx942", "gfx1100")
CSRC = "gsplat/cuda/csrc"
# A kernel that compiles as it is, one that a cast stops, and one with cub and cooperative groups' reduce.
NAMED = (f"{CSRC}/AdamCUDA.cu", f"{CSRC}/RasterizeToPixels3DGSFwd.cu", f"{CSRC}/IntersectTile.cu")
# The wheel has no script of its own. glm is given by a flag, as hipify would translate half of it otherwise.
SETUP = """from glob import glob
from pathlib import Path
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

glm = f"-I{Path(__file__).parent}/gsplat/cuda/csrc/third_party/glm"
sources = [*sorted(glob("gsplat/cuda/csrc/*.c*")), "gsplat/cuda/ext.cpp"]
extension = CUDAExtension(
    "gsplat.csrc", sources, include_dirs=["gsplat/cuda/include"], extra_compile_args={"cxx": [glm], "nvcc": [glm]}
)
setup(name="gsplat", ext_modules=[extension], cmdclass={"build_ext": BuildExtension})
"""


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gsplat")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), REAL], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "tree")
    return folder / "tree"


@pytest.fixture
def compiled(tmp_path, knowledge, kit):
    """Compiles selected sources and returns their summaries, as in the snapshot."""

    def run(root, only, targets=TARGETS):
        scan = Repository(root, knowledge, work=tmp_path / "work").scan()
        request = CompileRequest(
            Tree.open(root), scan.inventory.extensions, targets, knowledge, scan.findings, only=only
        )  # fmt: skip
        report = compile_repository(request, kit)
        return {item.unit.source: unit_summary(item) for item in report.units}

    return run


def unit_summary(item):
    sides = {}
    for name, side in item.sides.items():
        kernels = [f"{kernel.name} wave {kernel.wave_size}" for kernel in side.kernels]
        sides[name] = {"outcome": side.outcome, **({"kernels": kernels} if kernels else {})}
    places = dict.fromkeys(f"{problem.path}:{problem.line} {problem.code}".strip() for problem in item.problems)
    return {"sides": sides, "problems": list(places)}


@pytest.fixture
def known():
    return json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_jit_build_loses_the_header_in_hipify(unpacked, compiled):
    """torch's load() moves sources to another folder, together with only the headers of the include folders."""
    units = compiled(unpacked, lambda path: path.endswith("/NullCUDA.cu"), TARGETS[:1])

    assert units[f"{CSRC}/NullCUDA.cu"]["problems"] == [f"{CSRC}/NullCUDA.cu:5 CU506"]


def test_three_units(unpacked, compiled, known):
    (unpacked / "setup.py").write_text(SETUP)

    units = compiled(unpacked, NAMED.__contains__)

    assert units == {name: known[name] for name in NAMED}
    assert {side["outcome"] for side in units[NAMED[0]]["sides"].values()} == {"compiled"}


@pytest.mark.full
def test_all_units(unpacked, compiled, known):
    """Each source compiles on all sides, or fails with a reason and a position."""
    (unpacked / "setup.py").write_text(SETUP)

    units = compiled(unpacked, lambda path: path.startswith("gsplat/"))

    if os.environ.get("UPDATE"):
        SNAPSHOT.write_text(json.dumps(units, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert {name: units[name] for name in known} == known
    assert sum(name.endswith(".cu") for name in units) == 20
    for name, item in units.items():
        outcomes = {side["outcome"] for side in item["sides"].values()}
        assert outcomes in ({"compiled"}, {"failed"}), name
        assert bool(item["problems"]) == (outcomes == {"failed"}), name
        assert all(position.startswith("gsplat/") for position in item["problems"]), name
