#define USE_ROCM 1
