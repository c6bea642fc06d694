from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.verify.compilation.build_script import DeclaredExtension
from rocm3d.verify.compilation.classify import ErrorCodes
from rocm3d.verify.compilation.translation_unit import FlagCheck


@pytest.fixture
def check(kit, knowledge, tmp_path):
    return FlagCheck(replace(kit.compiler, cwd=tmp_path), tmp_path, ErrorCodes.of(knowledge.codes))


def make_extension(*flags: str, host=()) -> DeclaredExtension:
    return DeclaredExtension("p._C", "setup.py", 1, "", ("k.cu",), device_flags=flags, host_flags=tuple(host))


def test_accepted_flags_are_no_problem(check):
    assert (
        check.rejected_flags(
            make_extension("-O3", "-DCUDA_X=1", "-std=c++17", "--offload-arch=native", host=["-O2", "-fopenmp"])
        )
        == ()
    )


def test_flags_of_nvcc_are_rejected(check):
    flags = (
        "-O3",
        "--use_fast_math",
        "-Xptxas",
        "-v",
        "--expt-relaxed-constexpr",
        "-gencode=arch=compute_80,code=sm_80",
    )

    assert set(check.rejected_flags(make_extension(*flags))) == {
        "--use_fast_math",
        "-Xptxas",
        "--expt-relaxed-constexpr",
        "-gencode=arch=compute_80,code=sm_80",
    }


def test_a_rejected_flag_has_its_position_in_the_script(check, tmp_path):
    (tmp_path / "setup.py").write_text(
        "# --use_fast_math was here\nflags = ['-O3',\n  '--use_fast_math', f'-arch={a}']\n"
    )

    plain = check.problem("--use_fast_math", make_extension(), tmp_path)
    filled = check.problem("-arch=sm_94", make_extension(), tmp_path)
    unknown = check.problem("--nowhere", make_extension(), tmp_path)

    assert (plain.line, plain.column, plain.code) == (3, 4, "BLD101")
    assert (filled.line, unknown.line) == (3, 1)
