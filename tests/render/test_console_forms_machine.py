from __future__ import annotations

from rocm3d.model.toolchain import Toolchains
from rocm3d.render.console import render, summary


def test_no_toolchain_is_reported():
    assert render(Toolchains(found=())) == ""
    assert summary(Toolchains(found=())) == "no compiler for AMD targets found\n"
