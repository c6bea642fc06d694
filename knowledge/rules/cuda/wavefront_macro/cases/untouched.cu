// __AMDGCN_WAVEFRONT_SIZE was removed from clang
const char* note = "__AMDGCN_WAVEFRONT_SIZE";
__device__ int lane_of(int thread) { return thread % warpSize; }
