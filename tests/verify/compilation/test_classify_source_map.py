from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.compilation.classify import HipifySourceMap, line_map


def test_a_position_outside_the_repository_is_none(tmp_path):
    translation = HipifySourceMap(tmp_path, {})

    assert translation.original_position("/usr/include/stdio.h", 3) is None
    assert translation.original_position("../other/a.h", 3) is None


def test_a_file_that_was_not_translated_stays(tmp_path):
    assert HipifySourceMap(tmp_path, {}).original_position("./src/a.h", 7) == ("src/a.h", 7)
    assert HipifySourceMap(tmp_path, {}).original_position(f"{tmp_path}/src/a.h", 7) == ("src/a.h", 7)


def test_added_and_changed_lines_map_to_the_original(tmp_path):
    (tmp_path / "a.cu").write_text("#include <cub/cub.cuh>\n\nvoid f() {\n  cudaMalloc(&p, 1);\n  g();\n}\n")
    (tmp_path / "a.hip").write_text(
        '// generated\n#include "hip/hip_runtime.h"\n#include <hipcub/hipcub.hpp>\n\nvoid f() {\n'
        "  hipMalloc(&p, 1);\n  g();\n}\n"
    )
    translation = HipifySourceMap(tmp_path, {"a.hip": "a.cu"})

    assert [translation.original_position("a.hip", line)[1] for line in range(3, 9)] == [1, 2, 3, 4, 5, 6]
    assert translation.text("a.cu", 4) == "cudaMalloc(&p, 1);"


def test_a_line_after_the_end_is_the_last_one(tmp_path):
    (tmp_path / "a.cu").write_text("x\n")
    (tmp_path / "a.hip").write_text("y\nx\n")

    assert HipifySourceMap(tmp_path, {"a.hip": "a.cu"}).original_position("a.hip", 99) == ("a.cu", 1)
    assert HipifySourceMap(tmp_path, {"b.hip": "gone.cu"}).original_position("b.hip", 3) == ("gone.cu", 1)


@given(st.lists(st.sampled_from(["a", "b", "c", ""])), st.lists(st.sampled_from(["a", "b", "d", ""]), min_size=1))
def test_the_line_map_is_complete_and_monotonic(hipified, original):
    line_numbers = line_map(hipified, original)

    assert len(line_numbers) == len(hipified)
    assert all(1 <= line <= len(original) for line in line_numbers)
    assert line_numbers == sorted(line_numbers)


@given(st.lists(st.from_regex(r"[a-z]{1,4}", fullmatch=True), min_size=1), st.integers(0, 3))
def test_added_first_lines_shift_everything(lines, added):
    hipified = [*(f"// added {n}" for n in range(added)), *lines]

    assert line_map(hipified, lines)[added:] == list(range(1, len(lines) + 1))
