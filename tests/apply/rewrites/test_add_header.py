from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.add_header import edit

FLOAT = {"header": "cfloat", "names": ["FLT_MAX", "DBL_MAX"], "also_given_by": ["float.h", "ATen/"]}
USE = "float f() { return FLT_MAX; }\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// FLT_MAX\n",
        "float f() { return MY_FLT_MAX; }\n",
        f"#include <cfloat>\n{USE}",
        f"#include <float.h>\n{USE}",
        f"#include <ATen/ATen.h>\n{USE}",
        f"#ifndef USE_ROCM\n{USE}#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), FLOAT) == text.encode()


@pytest.mark.parametrize("head", ["", "#include <cuda_runtime.h>\n", "#pragma once\n#include <vector>\n"])
def test_inserts_a_guarded_include_above_the_first_use(head):
    before = f"{head}{USE}".encode()

    after = proven_edit(edit, before, FLOAT)

    assert after.startswith(f"{head}#if defined(USE_ROCM) || ".encode())
    assert b"\n#include <cfloat>\n#endif\nfloat f()" in after
