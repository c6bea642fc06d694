// unsigned active = __activemask();
struct Layer { unsigned activemask; };
__device__ unsigned long long lanes() {
#if defined(USE_ROCM)
  return __ballot(1);
#else
  return __activemask();
#endif
}
