#ifdef WITH_AMD_TYPES
#define USE_ROCM 0
#endif
