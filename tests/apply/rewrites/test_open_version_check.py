from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.open_version_check import edit

CHECK = {
    "macros": ["CUDA_VERSION", "CUDART_VERSION"],
    "headers": ["cuda_bf16.h", "cuda_fp8.h"],
    "number": "HIP_VERSION",
    "number_header": "hip/hip_version.h",
    "instead_of": ["cuda.h"],
}


@pytest.mark.parametrize(
    "text",
    [
        "#if CUDA_VERSION >= 11000\n#include <cuda_pipeline.h>\n#endif\n",
        "#if CUDA_VERSION >= 11000\n#include <cuda_bf16.h>\nvoid f() { cudaMallocAsync(p, n, s); }\n#endif\n",
        "#if CUDA_VERSION < 11000\n#include <cuda_bf16.h>\n#endif\n",
        "#if CUDA_VERSION >= 11000\nint a;\n#endif\n",
        "#if CUDA_VERSION >= 11000\n#include <cuda_bf16.h>\n#define X 1\n#endif\n",
        "int f() {\n  return CUDA_VERSION / 1000;\n}\n",
        "int f() {\n  int v = CUDA_VERSION;\n  return v;\n}\n",
        "#define VERSION() return CUDA_VERSION;\nint a;\n",
        "#ifdef USE_ROCM\n#else\nint f() {\n  return CUDA_VERSION;\n}\n#endif\n",
        "#if defined(USE_ROCM) || CUDA_VERSION >= 11000\n#include <cuda_bf16.h>\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), CHECK) == text.encode()


@pytest.mark.parametrize(
    "condition", ["CUDA_VERSION >= 11000", "CUDART_VERSION > 11080", "defined(CUDA_VERSION) && CUDA_VERSION >= 11000"]
)
def test_a_check_around_a_known_header_accepts_rocm(condition):
    before = f"#if {condition}\n#include <cuda_bf16.h>\nusing wide = __nv_bfloat16;\n#endif\n".encode()

    after = proven_edit(edit, before, CHECK)

    assert b"defined(USE_ROCM)" in after


def edited(text: str) -> str:
    before = text.encode()
    after = proven_edit(edit, before, CHECK, "x.cpp")
    return after.decode()


def test_a_function_returns_hips_version():
    after = edited("#ifdef GPU\n#include <cuda.h>\n#endif\nlong f() {\n  return CUDA_VERSION;\n}\n")

    guard = "#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)\n"
    assert f"{guard}#include <hip/hip_version.h>\n#else\n#include <cuda.h>\n#endif\n" in after
    assert f"{guard}  return HIP_VERSION;\n#else\n  return CUDA_VERSION;\n#endif\n" in after


def test_a_header_with_other_uses_stays():
    after = edited("#include <cuda.h>\nint f() {\n  cudaFree(0);\n  return CUDART_VERSION;\n}\n")

    assert after.startswith("#include <cuda.h>\n#if ")
    assert "#include <hip/hip_version.h>\n" in after


def test_preserves_windows_line_ends():
    after = edited("#include <cuda.h>\r\nint f() {\r\n  return CUDA_VERSION;\r\n}\r\n")

    assert after.count("\n") == after.count("\r\n")
