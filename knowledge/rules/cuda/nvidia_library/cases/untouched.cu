// #include <nvToolsExt.h>
#if !defined(USE_ROCM)
#include <nvToolsExt.h>
#endif
const char* note = "nvtxRangePushA";
