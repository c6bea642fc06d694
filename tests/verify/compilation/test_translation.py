from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.compilation.translation import Translation, line_map


def test_a_place_outside_of_the_repository_is_none(tmp_path):
    translation = Translation(tmp_path, {})

    assert translation.place("/usr/include/stdio.h", 3) is None
    assert translation.place("../other/a.h", 3) is None


def test_a_file_that_was_not_translated_stays(tmp_path):
    assert Translation(tmp_path, {}).place("./src/a.h", 7) == ("src/a.h", 7)
    assert Translation(tmp_path, {}).place(f"{tmp_path}/src/a.h", 7) == ("src/a.h", 7)


def test_lines_that_hipify_adds_and_changes_lead_back(tmp_path):
    (tmp_path / "a.cu").write_text("#include <cub/cub.cuh>\n\nvoid f() {\n  cudaMalloc(&p, 1);\n  g();\n}\n")
    (tmp_path / "a.hip").write_text(
        '// generated\n#include "hip/hip_runtime.h"\n#include <hipcub/hipcub.hpp>\n\nvoid f() {\n'
        "  hipMalloc(&p, 1);\n  g();\n}\n"
    )
    translation = Translation(tmp_path, {"a.hip": "a.cu"})

    assert [translation.place("a.hip", line)[1] for line in range(3, 9)] == [1, 2, 3, 4, 5, 6]
    assert translation.text("a.cu", 4) == "cudaMalloc(&p, 1);"


def test_a_line_behind_the_end_is_the_last_one(tmp_path):
    (tmp_path / "a.cu").write_text("x\n")
    (tmp_path / "a.hip").write_text("y\nx\n")

    assert Translation(tmp_path, {"a.hip": "a.cu"}).place("a.hip", 99) == ("a.cu", 1)
    assert Translation(tmp_path, {"b.hip": "gone.cu"}).place("b.hip", 3) == ("gone.cu", 1)


@given(st.lists(st.sampled_from(["a", "b", "c", ""])), st.lists(st.sampled_from(["a", "b", "d", ""]), min_size=1))
def test_every_line_leads_to_a_line_and_never_back(made, original):
    found = line_map(made, original)

    assert len(found) == len(made)
    assert all(1 <= line <= len(original) for line in found)
    assert found == sorted(found)


@given(st.lists(st.from_regex(r"[a-z]{1,4}", fullmatch=True), min_size=1), st.integers(0, 3))
def test_added_first_lines_shift_everything(lines, added):
    made = [*(f"// added {n}" for n in range(added)), *lines]

    assert line_map(made, lines)[added:] == list(range(1, len(lines) + 1))
