from __future__ import annotations

import pytest

from rocm3d.apply.rewrites.cast_kernel_pointer import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

CALLS = {"calls": ["cudaFuncSetAttribute", "cudaFuncSetCacheConfig"]}


def host(text: str) -> bytes:
    return f"void go(const void* given, int n) {{\n  {text}\n}}\n".encode()


@pytest.mark.parametrize(
    "text",
    [
        "cudaFuncSetAttribute((const void*)k, attribute, n);",
        "cudaFuncSetAttribute((void*)k, attribute, n);",
        "cudaFuncSetAttribute(reinterpret_cast<const void*>(&k), attribute, n);",
        "cudaFuncSetAttribute(given, attribute, n);",
        "// cudaFuncSetAttribute(k, attribute, n);",
        "own::cudaFuncSetAttribute(k, attribute, n);",
        "cudaFuncGetAttributes(&attributes, k);",
    ],
)
def test_stays_untouched(text):
    assert edit(host(text), CALLS) == host(text)


def test_a_cuda_branch_stays():
    data = b"#ifndef USE_ROCM\nvoid go() { cudaFuncSetAttribute(k, a, 1); }\n#endif\n"

    assert edit(data, CALLS) == data


@pytest.mark.parametrize("kernel", ["k", "&k", "k<float>", "k<float, 3>", "ns::k<T, N>", "(k<float, 3>)"])
def test_casts_the_kernel(kernel):
    before = host(f"cudaFuncSetAttribute({kernel}, attribute, n);")

    after = edit(before, CALLS)

    assert f"cudaFuncSetAttribute((const void*){kernel}, attribute".encode() in fold_cpp(after, assume_rocm)
    assert prove_isolation("x.cu", before, after).kind == "cpp-directives-evaluated"
    assert edit(after, CALLS) == after


@pytest.mark.parametrize(
    "before",
    [
        b"#define LARGE(K, n) \\\n  cudaFuncSetAttribute(K, attribute, n)\nvoid go() { LARGE(k, 1); }\n",
        host("DISPATCH(t, [&] {\n" + "  more();\n" * 30 + "  cudaFuncSetAttribute(k<A, B>, a, n);\n});"),
    ],
    ids=["macro", "dispatch"],
)
def test_uses_an_alias_if_a_guard_is_refused(before):
    after = edit(before, CALLS)

    assert b"cudaFuncSetAttribute(ROCM3D_KERNEL_CAST " in after
    assert b"#define ROCM3D_KERNEL_CAST (const void*)\n" in fold_cpp(after, assume_rocm)
    proof = prove_isolation("x.cu", before, after)
    assert (proof.holds, proof.kind) == (True, "cpp-tokens-equal"), proof.detail
    assert edit(after, CALLS) == after
