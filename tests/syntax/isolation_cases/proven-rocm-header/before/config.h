#if defined(__HIPCC__)
#define USE_ROCM 1
#endif
