from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.compilation.declared import Declared


def declared(*flags: str) -> Declared:
    return Declared("p._C", "setup.py", 3, "", ("a.cu", "b.cpp"), device_flags=flags, host_flags=("-O2",))


def test_only_device_sources_are_for_a_gpu():
    assert declared().device_sources == ("a.cu",)


def test_the_value_of_a_refused_flag_goes_with_it():
    item = declared("-Xptxas", "-v", "-ccbin", "g++", "-gencode=arch=compute_80", "-O3", "--use_fast_math", "-DX")

    kept = item.without({"-Xptxas", "-ccbin", "-gencode=arch=compute_80", "--use_fast_math"})

    assert kept.device_flags == ("-O3", "-DX")
    assert kept.host_flags == ("-O2",)


@given(st.lists(st.sampled_from(["-O3", "-DX", "-fPIC", "-Wall"])))
def test_nothing_refused_nothing_lost(flags):
    assert declared(*flags).without(set()).device_flags == tuple(flags)
