"""Every C++ rewrite on generated files: refused, or proven and idempotent."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError, load_rewrite
from rocm3d.knowledge.load import load
from rocm3d.model.recipe import Recipe
from rocm3d.syntax.cuda import CUDA_SUFFIXES
from rocm3d.syntax.isolation import prove_isolation

KNOWLEDGE = load()
RECIPES = [
    recipe
    for recipe in KNOWLEDGE.recipes.values()
    if recipe.status == "active" and PurePosixPath(KNOWLEDGE.examples[recipe.id].name).suffix in CUDA_SUFFIXES
]
LINES = [
    "#include <cuda_runtime.h>",
    "#include <cooperative_groups/reduce.h>",
    "#include <cuda/std/tuple>",
    "#include <thrust/system/cuda/execution_policy.h>",
    "#include <nvToolsExt.h>",
    "#include <cuda.h>",
    "#include <THC/THC.h>",
    "#pragma once",
    "#ifdef USE_ROCM",
    "#ifdef __CUDA_ARCH__",
    "#if __CUDA_ARCH__ < 700",
    "#if 0",
    "#else",
    "#endif",
    "#define WARP_SIZE 32",
    "#define VOTE(p) __ballot_sync(0xffffffff, p)",
    "#define GO(k) k << <1, 2>> > (x)",
    "#define LONG(x) \\",
    "namespace cg = cooperative_groups;",
    "__global__ void __maxnreg__(64) k(float* x) {",
    "__device__ int f(int t, float* x) {",
    "__device__ void add(__half* h, __half v) { atomicAdd(h, v); }",
    "__device__ at::Half __shfl_down_sync(unsigned m, at::Half v, unsigned d) {",
    "  return __shfl_down_sync(m, v, d);",
    "  return CUDA_VERSION;",
    "struct F {",
    "  __device__ F() {}",
    "  __device__ float operator()(float a) const { return a; }",
    "};",
    "}",
    "  int lane = t % warpSize;",
    "  int lane = threadIdx.x & 31;",
    "  unsigned v = __ballot_sync(0xffffffff, t);",
    "  unsigned v = __activemask();",
    "  unsigned v = __match_any_sync(v, t);",
    "  t += __popc(v & ((1u << lane) - 1));",
    "  t = __shfl_sync(v, t, 0);",
    "  t += __shfl_down_sync(0xffffffff, t, 1);",
    "  __syncwarp();",
    "  __syncwarp(v);",
    "  __trap();",
    "  auto tile = cg::tiled_partition<32>(cg::this_thread_block());",
    "  t = cg::reduce(tile, t, cg::plus<int>());",
    "  auto group = cg::labeled_partition(tile, t);",
    '  asm("mov.u32 %0, %%laneid;" : "=r"(t));',
    '  asm("bfe.u32 %0, %1, 2, 3;" : "=r"(t) : "r"(v));',
    "  return __ldg(x) + FLT_MAX;",
    "  k << <1, 2>> > (x);",
    "  k << <1, 2>> > (",
    "      x, t);",
    "  cudaFuncSetAttribute(k, a, 1);",
    "  AT_DISPATCH(t, [&] {",
    "  });",
    "  if (prop.major >= 8) t = 1;",
    "  cudaDeviceProp prop;",
    "  sort(thrust::cuda::par.on(s), x);",
    "  using W = cub::WarpReduce<float>;",
    "  ::cuda::std::tuple<int&> g(int& a) { return {a}; }",
    "__host__ __device__ void operator+=(float2& a, float2 b) { a.x += b.x; a.y += b.y; }",
    "  // __ballot_sync(0xffffffff, t) << <",
    '  const char* s = "__activemask() \\" << <";',
    "",
]
texts = st.builds(
    lambda lines, ending, ended: (ending.join(lines) + (ending if ended else "")).encode(),
    st.lists(st.sampled_from(LINES), max_size=14),
    st.sampled_from(["\n", "\n", "\r\n"]),
    st.booleans(),
)


@pytest.mark.parametrize("recipe", RECIPES, ids=[recipe.id for recipe in RECIPES])
@given(before=texts)
def test_edit_is_refused_or_proven_and_idempotent(recipe: Recipe, before: bytes):
    edit = load_rewrite(recipe.rewrite)
    try:
        after = edit(before, recipe.parameters)
    except RewriteRefusedError:
        return
    proof = prove_isolation("x.cu", before, after)
    assert after == before or proof.holds or "parentheses" in proof.detail, proof.detail
    try:
        assert edit(after, recipe.parameters) == after
    except RewriteRefusedError:
        assert after != before  # what is left is not known; the file stays as it is
