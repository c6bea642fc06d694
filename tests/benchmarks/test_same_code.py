from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import same_code
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.toolchain.compiler import find_nvcc

SPACED = b"__global__ void k(int* x) { *x = 1; }\nvoid f(int* x) {\n  k<< <1, 1>> >(x);\n}\n"


@given(st.lists(st.sampled_from([b"a", b"b", b"c"])), st.data())
def test_a_text_is_padded_to_the_lines_of_another(lines, data):
    new = list(lines)
    for _ in range(data.draw(st.integers(0, 3))):
        new.insert(data.draw(st.integers(0, len(new))), b"#if X")

    padded = same_code.padded_to(b"\n".join(lines), b"\n".join(new)).split(b"\n")

    assert [line for line in padded if line] == lines
    assert not lines or len(padded) == len(new)


@pytest.mark.engines
@pytest.mark.skipif(find_nvcc() is None or shutil.which("g++") is None, reason="nvcc is not installed here")
@pytest.mark.parametrize(
    ("after", "differs"),
    [
        (SPACED.replace(b"<< <", b"<<<").replace(b">> >", b">>>"), False),
        (b"\n\n" + SPACED, False),
        (SPACED.replace(b"*x = 1", b"*x = 2"), True),
        (SPACED.replace(b"(x);", b"(x + 1);"), True),
    ],
)
def test_only_another_program_differs(after, differs, tmp_path):
    (tmp_path / "out").mkdir()
    nvcc = find_nvcc()
    assert nvcc is not None

    differing = same_code.differences(nvcc, Path("a.cu"), (SPACED, after), (), tmp_path, tmp_path / "out")

    assert bool(differing) == differs, differing
