#pragma once

#include <system_error>
#include <thrust/detail/config.h>

namespace thrust {
using std::error_category;
using std::error_code;
using std::system_error;
inline const std::error_category& hip_category() { return std::generic_category(); }
inline const std::error_category& cuda_category() { return std::generic_category(); }
namespace system {
using std::system_error;
}
}  // namespace thrust
