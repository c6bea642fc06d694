// The device texts on an NVIDIA GPU, with HIP's intrinsics spelt in CUDA, against CUDA's own functions and PTX itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdio>

#define __ballot(predicate) ((unsigned long long)__ballot_sync(__activemask(), predicate))
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
#define __builtin_memcpy memcpy
__device__ unsigned __lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
#include "device_texts.h"
namespace cg = cooperative_groups;

__device__ void differ(int* wrong, int what, bool when) {
  if (when) atomicAdd(&wrong[what], 1);
}

__device__ unsigned noise(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

template <typename T>
__device__ void lanes(int* wrong, T key, bool here) {
  differ(wrong, 0, rocm3d_match_any(~0u, key) != __match_any_sync(~0u, key));
  if (here) {
    unsigned active = __activemask();
    differ(wrong, 1, rocm3d_match_any(active, key) != __match_any_sync(active, key));
    differ(wrong, 2, rocm3d_activemask() != active);
  }
}

__device__ void bits(int* wrong, unsigned a, unsigned b, unsigned c) {
  unsigned wanted;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(wanted) : "r"(a), "r"(b), "r"(c));
  differ(wrong, 3, rocm3d_bfe_u32(a, b, c) != wanted);
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(wanted) : "r"(a), "r"(b), "r"(c));
  differ(wrong, 4, (unsigned)rocm3d_bfe_s32(a, b, c) != wanted);
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(wanted) : "r"(a), "r"(b), "r"(c));
  differ(wrong, 5, rocm3d_prmt(a, b, c) != wanted);
  asm("bfind.u32 %0, %1;" : "=r"(wanted) : "r"(a >> (c & 63)));
  differ(wrong, 6, (unsigned)(31 - __clz(a >> (c & 63))) != wanted);
}

__global__ void all(int* wrong) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, x = noise(thread);
  bool here = x & 4;
  lanes(wrong, int(x & 3), here);
  lanes(wrong, x & 1 ? NAN : x & 2 ? 0.0f : -0.0f, here);
  lanes(wrong, double(x & 7), here);
  lanes(wrong, (long long)(x & 1) << 40, here);
  bits(wrong, x, noise(x), noise(x + 1));
  bits(wrong, x, x & 63, x >> 8 & 63);
  differ(wrong, 7, rocm3d_ballot(~0u, here) != __ballot_sync(~0u, here));
  differ(wrong, 8, rocm3d_any(~0u, here) != __any_sync(~0u, here) || rocm3d_all(~0u, here) != __all_sync(~0u, here));
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int value = int(x & 1023);
  differ(wrong, 9, rocm3d_reduce(warp, value, rocm3d_plus()) != cg::reduce(warp, value, cg::plus<int>()));
  differ(wrong, 10, rocm3d_reduce(tile, value, rocm3d_less()) != cg::reduce(tile, value, cg::less<int>()));
  differ(wrong, 11, rocm3d_reduce(tile, value, rocm3d_greater()) != cg::reduce(tile, value, cg::greater<int>()));
  auto wanted = cg::labeled_partition(tile, int(x & 3));
  auto found = rocm3d_labeled_partition(tile, int(x & 3));
  differ(wrong, 12, found.size() != wanted.size() || found.thread_rank() != wanted.thread_rank());
  differ(wrong, 13, rocm3d_shfl(~0u, value, 3) != __shfl_sync(~0u, value, 3));
  differ(wrong, 14, rocm3d_shfl_up(~0u, value, 3u) != __shfl_up_sync(~0u, value, 3));
  differ(wrong, 15, rocm3d_shfl_down(~0u, value, 3u, 8) != __shfl_down_sync(~0u, value, 3, 8));
  differ(wrong, 16, rocm3d_shfl_xor(~0u, value, 5) != __shfl_xor_sync(~0u, value, 5));
}

int main() {
  int *wrong, total = 0;
  cudaMallocManaged(&wrong, 17 * sizeof(int));
  for (int i = 0; i < 17; ++i) wrong[i] = 0;
  all<<<4096, 256>>>(wrong);
  if (cudaDeviceSynchronize() != cudaSuccess) return printf("no result: %s\n", cudaGetErrorString(cudaGetLastError())), 2;
  for (int i = 0; i < 17; ++i)
    if (wrong[i]) total += wrong[i], printf("check %d: %d threads differ\n", i, wrong[i]);
  printf("%d differences\n", total);
  return total != 0;
}
