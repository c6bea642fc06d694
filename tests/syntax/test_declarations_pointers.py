from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import pointee_type, pointee_types


def pointee_of_argument(text: str) -> str | None:
    unit = CudaUnit("a.cu", text.encode())
    call = next(node for node in unit.nodes("call_expression") if unit.slice(node).startswith("f("))
    arguments = call.child_by_field_name("arguments")
    assert arguments is not None
    return pointee_type(unit, arguments.named_children[0], dict(pointee_types(unit)))


@pytest.mark.parametrize(
    "text", ["void g(int a) { f(a); }\n", "void g() { f(1 + 2); }\n", "void g(T a[3]) { f(*b); }\n"]
)
def test_unknown_pointer(text):
    assert pointee_of_argument(text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("void g(const half* p) { f(p); }\n", "half"),
        ("void g(const at::Half *__restrict__ p, int i) { f(&p[i]); }\n", "at::Half"),
        ("void g() { T* p = q; f(p + 1); }\n", "T"),
        ("void g(float* p) { f((half2*)p); }\n", "half2"),
        ("void g(float* p) { f((const half2 *)&p[1]); }\n", "half2"),
        ("void g(float* p) { f(reinterpret_cast<const __half*>(p)); }\n", "__half"),
    ],
)
def test_type_from_cast_or_declaration(text, kind):
    assert pointee_of_argument(text) == kind


@given(st.binary(max_size=80))
def test_any_bytes_do_not_raise(data):
    assert all(name and kind for name, kind in pointee_types(CudaUnit("a.cu", data)))
