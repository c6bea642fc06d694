"""The toolchain made of wheels, prepared once for all test processes and cached in build/ between runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocm3d.knowledge.load import load
from rocm3d.toolchain import prepared
from rocm3d.toolchain.finder import newest_recipe

CACHE_FOLDER = Path(__file__).resolve().parents[2] / "build" / "toolchain-cache"


@pytest.fixture(scope="session")
def recipe():
    return newest_recipe(load().toolchains)


@pytest.fixture(scope="session")
def toolchain(recipe):
    """The compiler of the prepared toolchain."""
    CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
    before = os.environ.get("ROCM3D_CACHE")
    os.environ["ROCM3D_CACHE"] = str(CACHE_FOLDER)
    try:
        about = prepared.prepare(recipe, lambda _: None)
        return prepared.compiler(recipe, prepared.toolchain_folder(recipe), about)
    finally:
        if before is None:
            del os.environ["ROCM3D_CACHE"]
        else:
            os.environ["ROCM3D_CACHE"] = before
