"""The toolchain made of wheels as a kit, put together once for all test processes and kept between runs in build/."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocm3d.knowledge.load import load
from rocm3d.toolchain import prepared
from rocm3d.toolchain.finder import newest
from rocm3d.verify.compilation.kit import Kit, find_kit

KEPT = Path(__file__).resolve().parents[3] / "build" / "toolchain-cache"


@pytest.fixture(scope="session")
def kits():
    """By the generation of hipify; nothing here passes without them."""
    KEPT.mkdir(parents=True, exist_ok=True)
    recipes = load().toolchains
    before = os.environ.get("ROCM3D_CACHE")
    os.environ["ROCM3D_CACHE"] = str(KEPT)
    try:
        prepared.prepare(newest(recipes), lambda _: None)
        found = {generation: find_kit(recipes, generation, None, None) for generation in (1, 2)}
    finally:
        if before is None:
            del os.environ["ROCM3D_CACHE"]
        else:
            os.environ["ROCM3D_CACHE"] = before
    assert all(isinstance(kit, Kit) for kit in found.values()), found
    return found


@pytest.fixture
def kit(kits):
    return kits[1]
