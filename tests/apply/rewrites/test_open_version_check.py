from __future__ import annotations

import pytest

from rocm3d.apply.rewrites.open_version_check import edit
from rocm3d.syntax.isolation import prove

CHECK = {"macros": ["CUDA_VERSION", "CUDART_VERSION"], "headers": ["cuda_bf16.h", "cuda_fp8.h"]}


@pytest.mark.parametrize(
    "text",
    [
        "#if CUDA_VERSION >= 11000\n#include <cuda_pipeline.h>\n#endif\n",
        "#if CUDA_VERSION >= 11000\n#include <cuda_bf16.h>\nvoid f() { cudaMallocAsync(p, n, s); }\n#endif\n",
        "#if CUDA_VERSION < 11000\n#include <cuda_bf16.h>\n#endif\n",
        "#if CUDA_VERSION >= 11000\nint a;\n#endif\n",
        "#if CUDA_VERSION >= 11000\n#include <cuda_bf16.h>\n#define X 1\n#endif\n",
        "#if defined(USE_ROCM) || CUDA_VERSION >= 11000\n#include <cuda_bf16.h>\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), CHECK) == text.encode()


@pytest.mark.parametrize(
    "asked", ["CUDA_VERSION >= 11000", "CUDART_VERSION > 11080", "defined(CUDA_VERSION) && CUDA_VERSION >= 11000"]
)
def test_a_check_that_holds_a_known_header_accepts_rocm(asked):
    before = f"#if {asked}\n#include <cuda_bf16.h>\nusing wide = __nv_bfloat16;\n#endif\n".encode()

    after = edit(before, CHECK)

    assert b"defined(USE_ROCM)" in after
    assert prove("x.cu", before, after).holds
    assert edit(after, CHECK) == after
