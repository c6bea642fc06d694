from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.take_atomic_fallback import edit

HALF = {"call": "atomicAdd", "types": ["__half", "at::Half"], "macro": "__CUDA_ARCH__"}
LOOP = "__device__ void add(__half* to, __half v) { loop(to, v); }"
CALL = "__device__ void add(__half* to, __half v) { atomicAdd(to, v); }"


def chain(condition: str, first: str = LOOP, second: str = CALL) -> bytes:
    return f"{condition}\n{first}\n#else\n{second}\n#endif\n".encode()


@pytest.mark.parametrize(
    "data",
    [
        f"{CALL}\n".encode(),
        chain("#if __CUDA_ARCH__ >= 700", CALL, LOOP),
        chain("#if __CUDA_ARCH__ < 700", CALL, CALL),
        chain("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 700"),
        chain("#if CUDA_VERSION < 10000"),
        chain("#if __CUDA_ARCH__ < 700 // old"),
        f"#if __CUDA_ARCH__ < 600\n{LOOP}\n#elif __CUDA_ARCH__ < 700\n{LOOP}\n#else\n{CALL}\n#endif\n".encode(),
    ],
)
def test_refuses_without_a_certain_fallback_branch(data):
    with pytest.raises(RewriteRefusedError):
        edit(data, HALF)


@pytest.mark.parametrize(
    "data",
    [
        chain("#if __CUDA_ARCH__ < 700", second="__device__ void add(float* to, float v) { atomicAdd(to, v); }"),
        chain("#if __CUDA_ARCH__ < 700 || defined(USE_ROCM)"),
        chain("#if __CUDA_ARCH__ < 700", second=f"// {CALL}"),
        b"__device__ void a(__half* x);\n__device__ void b(float* x) { atomicAdd(x, 1.0f); }\n",
    ],
)
def test_stays_untouched(data):
    assert edit(data, HALF) == data


@pytest.mark.parametrize(
    "condition",
    [
        "#if __CUDA_ARCH__ < 700",
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700",
        "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 700 || CUDA_VERSION < 10000)",
    ],
)
@pytest.mark.parametrize(
    "second", [CALL, "__device__ void add(at::Half* p, at::Half v) { atomicAdd(reinterpret_cast<__half*>(p), v); }"]
)
def test_uses_the_branch_for_older_cards_on_rocm(condition, second):
    before = chain(condition, second=second)

    after = proven_edit(edit, before, HALF, "x.cuh")

    assert b"|| defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)\n" in after
