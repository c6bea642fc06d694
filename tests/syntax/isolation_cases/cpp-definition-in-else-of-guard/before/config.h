#ifdef __HIPCC__
#else
#define USE_ROCM 0
#endif
