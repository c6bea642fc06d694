from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.define_macro import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp

SYNC = {"call": "__syncwarp", "helper": "syncwarp", "since": 70100000}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// __syncwarp();\n",
        "void f() { my__syncwarp(); }\n",
        "#ifndef USE_ROCM\nvoid f() { __syncwarp(); }\n#endif\n",
        "#define __syncwarp() barrier()\nvoid f() { __syncwarp(); }\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), SYNC) == text.encode()


STEPS = [b"fence(__ATOMIC_RELEASE, ", b"wave_barrier()", b"fence(__ATOMIC_ACQUIRE, "]


@pytest.mark.parametrize(
    ("text", "uses_own_of_hip"),
    [
        ("#include <a>\nvoid f() { __syncwarp(); }\n", True),
        ("#define S \\\n  __syncwarp()\nvoid f() { S; }\n", True),
        ("#include <a>\nvoid f(unsigned m) { __syncwarp(m); __syncwarp(); }\n", False),
        ("void f() { __syncwarp(0xffffffff); }\n", False),
    ],
)
def test_defines_a_barrier_unless_hips_own_compiles(text, uses_own_of_hip):
    before = text.encode()

    after = proven_edit(edit, before, SYNC)

    on_rocm = fold_cpp(after, assume_rocm)
    positions = [on_rocm.index(step) for step in STEPS]
    assert positions == sorted(positions)
    assert on_rocm.count(b'"wavefront"') == 2
    assert (b"#if HIP_VERSION < 70100000\n" in on_rocm) == uses_own_of_hip
    assert on_rocm.index(b"#define __syncwarp(...)") < on_rocm.rindex(b"__syncwarp(")
