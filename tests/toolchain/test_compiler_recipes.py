"""What recipes write compiles for a wave of 64 and one of 32 lanes, after torch's hipify, down to machine code."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from rocm3d.knowledge.load import load
from rocm3d.syntax.cuda import SUFFIXES
from rocm3d.toolchain import prepared
from rocm3d.toolchain.hipify import Hipify

pytestmark = pytest.mark.full

KNOWLEDGE = load()
RECIPES = sorted(
    recipe.id
    for recipe in KNOWLEDGE.recipes.values()
    if recipe.status == "active" and PurePosixPath(KNOWLEDGE.examples[recipe.id].name).suffix in SUFFIXES
)
DECLARED = Path(prepared.__file__).parent / "headers" / "declared"


@pytest.fixture(scope="module")
def root(toolchain):
    return Path(next(word for word in toolchain.command if word.startswith("--rocm-path=")).partition("=")[2])


@pytest.fixture(scope="module")
def sources(root, tmp_path_factory):
    project = tmp_path_factory.mktemp("recipes") / "project"
    project.mkdir()
    paths = {name: project / f"{name}.cu" for name in RECIPES}
    for name, path in paths.items():
        path.write_bytes(KNOWLEDGE.examples[name].after)
    found = Hipify(root / "torch").sources(project, list(paths.values()))
    return {name: found.files[path] for name, path in paths.items()}


@pytest.mark.parametrize("gfx", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", RECIPES)
def test_the_edited_example_compiles(name, gfx, sources, toolchain, root, tmp_path):
    headers = [DECLARED, root / "torch" / "hip_include", root / "torch" / "include"]
    search = [word for folder in headers for word in ("-isystem", str(folder))]
    flags = ["-std=c++17", "-O1", "-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1", "-include", "hip/hip_runtime.h", *search]

    made = toolchain.device(sources[name], gfx, tmp_path / "made.o", flags)

    assert made.output is not None, made.said[-4000:]
