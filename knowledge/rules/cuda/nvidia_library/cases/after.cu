#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#include <roctracer/roctx.h>
#define nvtxRangePushA roctxRangePushA
#define nvtxRangePop roctxRangePop
#else
#include <nvToolsExt.h>
#endif

void step() {
  nvtxRangePushA("step");
  nvtxRangePop();
}
