#include "config.h"
#include "other.h"
__global__ void vote(unsigned* x) {
  x[0] = __ballot_sync(0xffffffff, x[1]);
}
