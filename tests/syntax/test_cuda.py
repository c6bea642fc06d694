from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.syntax.cuda import CudaUnit

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

BROKEN = {
    "empty": b"",
    "unclosed": b"__global__ void f( { if (",
    "odd bytes": b"\xff\xfe\x00 int \x80 x;",
    "only a quote": b'"',
    "unbalanced directives": b"#endif\n#else\n#if\n",
    "parentheses": b"int x = " + b"(" * 10_000 + b"1" + b")" * 10_000 + b";",
    "open parentheses": b"(" * 10_000,
    "braces": b"{" * 10_000,
    "nested conditions": b"#if FOO\n" * 10_000,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_code_does_not_raise(data):
    unit = CudaUnit("x.cu", data)
    assert all(
        0 <= node.start_byte <= node.end_byte <= len(data) for node in unit.nodes("identifier", "call_expression")
    )
    assert unit.tree.root_node.type in ("translation_unit", "ERROR")
    assert unit.is_shared(0) is (len(data) > 0)


def test_nodes_come_in_source_order():
    unit = CudaUnit("x.cu", b"void f() { a(); b(c()); }")
    calls = [unit.slice(node) for node in unit.nodes("call_expression")]
    assert calls == ["a()", "b(c())", "c()"]


CODE = b"""\
one();
#if defined(USE_ROCM)
two();
#else
three();
#endif
#if 0
four();
#if USE_ROCM
five();
#endif
#endif
#if FOO
six();
#ifndef USE_ROCM
seven();
#endif
#endif
eight();
"""


@pytest.mark.parametrize("name", [b"two", b"three", b"four", b"five", b"seven"])
def test_code_for_one_backend_is_not_shared(name):
    assert not CudaUnit("x.cu", CODE).is_shared(CODE.index(name))


@pytest.mark.parametrize("name", [b"one", b"six", b"eight"])
def test_code_for_both_backends_is_shared(name):
    assert CudaUnit("x.cu", CODE).is_shared(CODE.index(name))


def test_nothing_is_shared_after_the_end():
    assert not CudaUnit("x.cu", CODE).is_shared(len(CODE))


def test_portable_example_guards_backend_specific_code():
    data = (EXAMPLES / "already-portable/csrc/rownorm.cu").read_bytes()
    unit = CudaUnit("rownorm.cu", data)
    assert not unit.is_shared(data.index(b"#include <device_launch_parameters.h>"))
    assert not unit.is_shared(data.index(b"#define FULL_MASK 0xffffffff\n"))
    assert unit.is_shared(data.index(b"__shfl_down_sync"))
