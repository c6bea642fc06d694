#include <cooperative_groups.h>
#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)
#include <cooperative_groups/reduce.h>
#endif
namespace cg = cooperative_groups;

__global__ void fill(float* x, int n) {
  auto rank = cg::this_grid().thread_rank();
  if (rank < n) x[rank] = 0.0f;
}
