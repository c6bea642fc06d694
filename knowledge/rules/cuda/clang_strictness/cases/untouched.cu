#include <float.h>

// FLT_MAX marks a missing neighbour
__device__ float missing() { return FLT_MAX; }
