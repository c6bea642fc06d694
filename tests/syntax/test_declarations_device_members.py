from __future__ import annotations

import pytest

from rocm3d.syntax.declarations import device_members


def names(text: str) -> list[str]:
    return [f"{entry.owner.decode()}::{entry.name.decode()}" for entry in device_members(text.encode())]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "__device__ int f(int a);",
        "struct S { int f(); };",
        "struct S { __host__ __device__ S(); };",
        "__device__ int T::f() { return 1; }",
        "struct S { __device__ int x; };",
    ],
)
def test_no_device_members(text):
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("struct S { __device__ S(); __device__ ~S(); };", ["S::S", "S::~S"]),
        ("struct __align__(16) S { __device__ __forceinline__ int operator() (int a) const; };", ["S::operator()"]),
        ("struct S { int x; }; __device__ S S::operator+=(S o) { return o; }", ["S::operator+="]),
        ("class S : public B { struct T { __device__ T(int a) : x(a) {} }; __device__ S(); };", ["T::T", "S::S"]),
        ("struct S { static __device__ __attribute__((noinline)) int f(int); };", ["S::f"]),
    ],
)
def test_device_members(text, expected):
    assert names(text) == expected


def test_offset_of_device_qualifier():
    text = b"struct S { __device__ S(); };"

    assert [entry.offset for entry in device_members(text)] == [text.index(b"__device__")]
