#ifndef USE_ROCM
#define USE_ROCM 0
#endif
