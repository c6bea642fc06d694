// #if defined(__CUDACC__)
#if defined(__CUDACC__) || defined(__HIPCC__)
#define SIDE __device__
#else
#define SIDE
#endif
const char* note = "__CUDACC__";
