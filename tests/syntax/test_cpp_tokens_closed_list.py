from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cpp_tokens import listed_edits, token_stream, without_added_include


def edits(old: str, new: str) -> dict[str, int] | None:
    result = listed_edits(token_stream(old.encode(), old.encode()), token_stream(new.encode(), old.encode()))
    return None if result is None else dict(result)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k << <1, 2 >> > (x);", "k <<<1, 3 >>> (x);"),
        ("k << <1, 2 >> > (x);", "k <<<1, 2, 0 >>> (x);"),
        ("k <<<1, 2 >>> (x);", "k << <1, 2 >> > (x);"),
        ("a < b << c;", "a <<< b c;"),
        ("A<B<C<int> > > (x);", "A<B<C<int>>>(x);"),
        ("1 << <2>> > (x);", "1 <<<2>>> (x);"),
        ("f(kernel);", "f((const void*)kernel);"),
        ("cudaFuncSetAttribute(a, kernel);", "cudaFuncSetAttribute(a, (const void*)kernel);"),
        ("cudaFuncSetAttribute(kernel);", "cudaFuncSetAttribute((void*)kernel);"),
        ("int a;", "#include <climits>\nint a;"),
        ("#include <cfloat>\nint a;", "int a;"),
        ("__global__ void f();", "__host__ __global__ void f();"),
        ("__host__ __device__ void f();", "__host__ __host__ __device__ void f();"),
        ("__host__ __device__ void f();", "__device__ void f();"),
        ("int a;", "int b;"),
        ("int a;", "int a; int b;"),
    ],
)
def test_other_edits_are_not_listed(old, new):
    assert edits(old, new) is None


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("k << <1, 2 >> > (x);", "k <<<1, 2 >>> (x);", "launch chevrons"),
        ("k<T> << < 1, f<A<B> >(2) > >>(x);", "k<T> <<< 1, f<A<B> >(2) >>>(x);", "launch chevrons"),
        ("cudaFuncSetAttribute(k<A, B>, m);", "cudaFuncSetAttribute((const void*)k<A, B>, m);", "cast of a kernel"),
        ("int a;", "#include <cfloat>\nint a;", "<cfloat>"),
        ("struct S { __device__ S(); };", "struct S { __host__ __device__ S(); };", "__host__ on a member"),
    ],
)
def test_listed_edits(old, new, name):
    result = edits(old, new)

    assert result is not None
    assert set(result) == {name}


def test_several_kinds_of_edits_are_counted():
    old = "struct S { __device__ S(); };\nvoid f() { k << <1, 2>> > (); }"
    new = "#include <cfloat>\nstruct S { __host__ __device__ S(); };\nvoid f() { k <<<1, 2>>> (); }"

    assert edits(old, new) == {"<cfloat>": 1, "__host__ on a member": 1, "launch chevrons": 2}


def test_existing_include_is_retained():
    assert without_added_include(b"#include <cfloat>\n", b"#include <cfloat>\na\n") == b"#include <cfloat>\na\n"
    assert without_added_include(b"a\n", b"#include <cfloat>\na\n") == b"a\n"


@given(st.lists(st.sampled_from(["a", "<", "<<", "<<<", ">", ">>", ">>>", "(", ")", "__host__", "__device__", ";"])))
def test_equal_streams_have_no_edits(tokens):
    assert listed_edits(tokens, tokens) == {}
