double stable_inverse(double x) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  double eps = 1e-6;
#else
  double eps = 1e-6d;
#endif
  return x < eps ? 0.0 : 1.0 / x;
}
