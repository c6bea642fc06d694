#include <torch/script.h>

namespace points {
int64_t cuda_version() noexcept { return 1; }
}  // namespace points

#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
static auto registry = torch::RegisterOperators().op(
    "points::cuda_version", [] { return points::cuda_version(); });
#else
static auto registry = torch::RegisterOperators().op(
    "points::cuda_version", &points::cuda_version);
#endif
