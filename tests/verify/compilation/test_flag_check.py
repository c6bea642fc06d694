from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.verify.compilation.classify import Codes
from rocm3d.verify.compilation.declared import Declared
from rocm3d.verify.compilation.flag_check import FlagCheck


@pytest.fixture
def check(kit, knowledge, tmp_path):
    return FlagCheck(replace(kit.compiler, cwd=tmp_path), tmp_path, Codes.of(knowledge.codes))


def declared(*flags: str, host=()) -> Declared:
    return Declared("p._C", "setup.py", 1, "", ("k.cu",), device_flags=flags, host_flags=tuple(host))


def test_flags_that_clang_takes_are_nobodys_problem(check):
    assert (
        check.refused(declared("-O3", "-DCUDA_X=1", "-std=c++17", "--offload-arch=native", host=["-O2", "-fopenmp"]))
        == ()
    )


def test_flags_of_nvcc_are_refused_each_by_name(check):
    flags = (
        "-O3",
        "--use_fast_math",
        "-Xptxas",
        "-v",
        "--expt-relaxed-constexpr",
        "-gencode=arch=compute_80,code=sm_80",
    )

    assert set(check.refused(declared(*flags))) == {
        "--use_fast_math",
        "-Xptxas",
        "--expt-relaxed-constexpr",
        "-gencode=arch=compute_80,code=sm_80",
    }


def test_a_refused_flag_stands_where_the_script_has_it(check, tmp_path):
    (tmp_path / "setup.py").write_text(
        "# --use_fast_math was here\nflags = ['-O3',\n  '--use_fast_math', f'-arch={a}']\n"
    )

    plain = check.problem("--use_fast_math", declared(), tmp_path)
    filled = check.problem("-arch=sm_94", declared(), tmp_path)
    unknown = check.problem("--nowhere", declared(), tmp_path)

    assert (plain.line, plain.column, plain.code) == (3, 4, "BLD101")
    assert (filled.line, unknown.line) == (3, 1)
