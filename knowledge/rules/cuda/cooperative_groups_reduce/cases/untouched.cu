#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// cg::reduce(tile, value, cg::plus<int>())
__device__ int total(int value) {
  auto active = cg::coalesced_threads();
  return cg::reduce(active, value, cg::plus<int>());
}
