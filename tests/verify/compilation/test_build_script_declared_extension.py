from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.compilation.build_script import DeclaredExtension


def make_extension(*flags: str) -> DeclaredExtension:
    return DeclaredExtension("p._C", "setup.py", 3, "", ("a.cu", "b.cpp"), device_flags=flags, host_flags=("-O2",))


def test_device_sources_are_selected_by_suffix():
    assert make_extension().device_sources == ("a.cu",)


def test_a_removed_flag_takes_its_value_with_it():
    item = make_extension("-Xptxas", "-v", "-ccbin", "g++", "-gencode=arch=compute_80", "-O3", "--use_fast_math", "-DX")

    remaining = item.without({"-Xptxas", "-ccbin", "-gencode=arch=compute_80", "--use_fast_math"})

    assert remaining.device_flags == ("-O3", "-DX")
    assert remaining.host_flags == ("-O2",)


@given(st.lists(st.sampled_from(["-O3", "-DX", "-fPIC", "-Wall"])))
def test_no_removed_flag_changes_nothing(flags):
    assert make_extension(*flags).without(set()).device_flags == tuple(flags)
