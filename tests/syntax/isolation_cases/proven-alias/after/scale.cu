#include "config.h"
#include "other.h"
#if defined(USE_ROCM)
#define ROCM3D_VOTE(m, v) __ballot(v)
#else
#define ROCM3D_VOTE(m, v) __ballot_sync(m, v)
#endif
__global__ void vote(unsigned* x) {
  x[0] = ROCM3D_VOTE(0xffffffff, x[1]);
}
