from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import rocm_shim_names


def shim_names(text: str) -> frozenset[str]:
    return rocm_shim_names(CudaUnit("a.h", text.encode()))


@pytest.mark.parametrize(
    "text",
    [
        "#define a(x) x\n",
        "#ifndef USE_ROCM\n#define a(x) x\n#endif\n",
        "#ifdef USE_ROCM\n#else\nint a(int);\n#endif\n",
        "#ifdef OTHER\n#define a(x) x\n#endif\n",
        "#ifdef USE_ROCM\n// #define a(x) x\n#endif\n",
        "",
    ],
)
def test_code_compiled_for_cuda_is_not_a_shim(text):
    assert shim_names(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#ifdef USE_ROCM\n#define a(x) x\n#define b\n#endif\n", {"a", "b"}),
        ("#if defined(__HIP_PLATFORM_AMD__)\n#define a 1\n#endif\n", {"a"}),
        ("#ifdef USE_ROCM\n__device__ at::Half a(const at::Half* p) { return *p; }\n#endif\n", {"a(at::Half"}),
        ("#ifdef USE_ROCM\n__device__ void a();\n#else\nvoid b();\n#endif\n", {"a"}),
    ],
)
def test_shim_names(text, names):
    assert shim_names(text) == names


@given(st.binary(max_size=60))
def test_any_bytes_do_not_raise(data):
    assert isinstance(rocm_shim_names(CudaUnit("a.h", b"#ifdef USE_ROCM\n" + data + b"\n#endif\n")), frozenset)
