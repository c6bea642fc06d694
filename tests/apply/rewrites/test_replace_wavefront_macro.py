from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_wavefront_macro import edit

MACRO = {"macros": ["__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"], "wave64": ["__GFX9__"]}


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef USE_ROCM\nint blocks() { return 256 / __AMDGCN_WAVEFRONT_SIZE; }\n#endif\n",
        "#ifdef USE_ROCM\nconstexpr int kWave = __AMDGCN_WAVEFRONT_SIZE;\n#endif\nint g() { return kWave; }\n",
        "#ifdef USE_ROCM\n#define W __AMDGCN_WAVEFRONT_SIZE\n#endif\nint g() { return W; }\n",
    ],
)
def test_reads_on_the_host_are_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(text.encode(), MACRO)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// __AMDGCN_WAVEFRONT_SIZE\n",
        "#ifndef USE_ROCM\nint a = __AMDGCN_WAVEFRONT_SIZE;\n#endif\n",
        "#ifndef __AMDGCN_WAVEFRONT_SIZE\n#define __AMDGCN_WAVEFRONT_SIZE 64\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), MACRO) == text.encode()


@pytest.mark.parametrize(
    "use",
    [
        "#ifdef USE_ROCM\nconst int k = __AMDGCN_WAVEFRONT_SIZE;\n#endif\n__device__ int f(int t) { return t % k; }\n",
        "#if __AMDGCN_WAVEFRONT_SIZE == 64\n__device__ int f() { return 6; }\n#endif\n",
        "__device__ int f(int t) {\n#ifdef USE_ROCM\n  t %= __AMDGCN_WAVEFRONT_SIZE__;\n#endif\n  return t;\n}\n",
    ],
)
def test_defines_the_macro(use):
    before = f"#include <a>\n{use}".encode()

    after = proven_edit(edit, before, MACRO)

    name = b"__AMDGCN_WAVEFRONT_SIZE__" if b"SIZE__" in before else b"__AMDGCN_WAVEFRONT_SIZE"
    assert b"#if defined(__GFX9__)\n#define %b 64\n#else\n#define %b 32\n#endif\n" % (name, name) in after
    assert after.count(b"#define __AMDGCN") == 2
    assert after.endswith(use.encode())
