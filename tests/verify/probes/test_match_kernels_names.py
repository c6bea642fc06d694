from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.verdict import KernelFacts
from rocm3d.verify.probes.match_kernels import compare_kernels, plain_name


def kernels(*names: str, empty: tuple[str, ...] = ()) -> list[KernelFacts]:
    return [KernelFacts(name=name, empty=name in empty) for name in names]


@pytest.mark.parametrize(
    ("symbol", "parts"),
    [
        ("half_sum", ("half_sum",)),
        ("_Z1kPf", ("k",)),
        ("_ZL1kPf", ("k",)),
        ("_Z10renderCUDAILj3EEvPK5uint2", ("renderCUDA",)),
        ("_ZN3cub4scan16DeviceScanKernelIfEEvPT_", ("cub", "scan", "DeviceScanKernel")),
        ("_ZN12_GLOBAL__N_17my_kernEPf", ("my_kern",)),
        ("_ZN6cumeshL4sortEPf", ("cumesh", "sort")),
        ("_Z", ("_Z",)),
        ("_ZN", ("_ZN",)),
        ("_Z99x", ("x",)),
    ],
)
def test_the_name_without_types(symbol, parts):
    assert plain_name(symbol) == parts


def test_the_same_kernels_under_other_types_are_no_difference():
    cuda = kernels("_Z1kP6float3", "_Z1mILi1EEvPf", "_Z1mILi2EEvPf")
    hip = kernels("_Z1kP15HIP_vector_typeIfLj3EE", "_Z1mILi1EEvPf", "_Z1mILi2EEvPf")

    assert not compare_kernels(cuda, hip)
    assert compare_kernels(cuda, hip).common == 3


def test_kernels_of_libraries_do_not_count():
    assert not compare_kernels(kernels("_ZN3cub1aEv", "_Z1kv"), kernels("_ZN15rocm3d_declared11device_workEv", "_Z1kv"))


def test_missing_kernels_and_instantiations_are_vanished():
    difference = compare_kernels(kernels("_Z1kv", "_Z1mILi1EEvv", "_Z1mILi2EEvv"), kernels("_Z1mILi1EEvv", "_Z1nv"))

    assert difference
    assert (difference.vanished, difference.appeared) == (("k", "m"), ("n",))


def test_a_kernel_that_became_empty_is_emptied():
    cuda, hip = kernels("_Z1kv", "_Z1mv", empty=("_Z1mv",)), kernels("_Z1kv", "_Z1mv", empty=("_Z1kv", "_Z1mv"))

    assert compare_kernels(cuda, hip).emptied == ("k",)


@given(st.text(max_size=40))
def test_any_symbol_has_a_name(text):
    assert plain_name(f"_Z{text}")


@given(st.lists(st.from_regex(r"_Z[1-3][a-c]{3}v", fullmatch=True)))
def test_a_build_is_no_different_from_itself(names):
    assert not compare_kernels(kernels(*names), kernels(*names))
