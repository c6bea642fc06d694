from __future__ import annotations

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.toolchain.prepared import isa_version, write_device_library


@pytest.mark.parametrize("gfx", ["", "gfx", "gfx9", "mi300x", "gfx942a", "gfx12345", "GFX942"])
def test_invalid_targets_are_refused(gfx):
    with pytest.raises(ValueError, match="^" + gfx):
        isa_version(gfx)


@pytest.mark.parametrize(
    ("gfx", "number"),
    [("gfx90a", 9010), ("gfx906", 9006), ("gfx942", 9402), ("gfx950", 9500), ("gfx1036", 10306), ("gfx1100", 11000),
     ("gfx1151", 11501), ("gfx1201", 12001)],
)  # fmt: skip
def test_isa_version(gfx, number):
    assert isa_version(gfx) == number


def test_a_compiler_without_amd_targets_is_refused(recipe, tmp_path):
    with pytest.raises(MachineError, match="has no AMD targets"):
        write_device_library(tmp_path, recipe, ["true"])
